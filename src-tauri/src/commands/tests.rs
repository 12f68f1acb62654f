use super::ADAPTERS;
use plimsoll_ipc::COMMANDS;

#[test]
fn every_command_of_the_contract_has_an_adapter_and_no_adapter_is_outside_it() {
    let contract: Vec<&str> = COMMANDS.iter().map(|(name, _, _)| *name).collect();
    assert_eq!(ADAPTERS, contract, "commands.rs lists the contract's commands in the contract's order");
}
