//! Pure chat state: message tree, prompt assembly from templates, context ledger and remedies. No I/O, no async, no clock.
