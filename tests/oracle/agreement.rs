//! How far two distributions over the vocabulary lie apart.

/// Natural logarithms of the softmax of `logits`, summed in 64 bits.
pub(crate) fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let log_sum = log_sum_exp(logits);
    logits.iter().map(|&logit| f64::from(logit) - log_sum).collect()
}

/// ln(sum of e^logit).
pub(crate) fn log_sum_exp(logits: &[f32]) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&logit| f64::from((logit - top).exp())).sum();
    f64::from(top) + sum.ln()
}

/// The most likely word; the first of equals.
pub(crate) fn top1(logits: &[f32]) -> usize {
    logits.iter().enumerate().fold((0, f32::NEG_INFINITY), |best, (i, &x)| if x > best.1 { (i, x) } else { best }).0
}

/// Agreement over a run of positions.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Agreement {
    positions: usize,
    same_top1: usize,
    kl_sum: f64,
    kl_max: f64,
    largest_difference: f32,
}

impl Agreement {
    /// Compares all positions of two runs, `[position][word]`.
    pub(crate) fn of(reference: &[Vec<f32>], ours: &[Vec<f32>]) -> Self {
        assert_eq!(reference.len(), ours.len());
        let mut agreement = Self::default();
        for (reference, ours) in reference.iter().zip(ours) {
            agreement.add(reference, ours);
        }
        agreement
    }

    /// Adds one position: KL(reference || ours), the most likely word, the largest difference of a logit.
    pub(crate) fn add(&mut self, reference: &[f32], ours: &[f32]) {
        assert_eq!(reference.len(), ours.len(), "words in the vocabulary");
        assert!(ours.iter().all(|logit| logit.is_finite()), "logits are numbers");
        let (p, q) = (log_softmax(reference), log_softmax(ours));
        let kl: f64 = p.iter().zip(&q).map(|(p, q)| p.exp() * (p - q)).sum();
        self.positions += 1;
        self.same_top1 += usize::from(top1(reference) == top1(ours));
        self.kl_sum += kl;
        self.kl_max = self.kl_max.max(kl);
        let differences = reference.iter().zip(ours).map(|(a, b)| (a - b).abs());
        self.largest_difference = differences.fold(self.largest_difference, f32::max);
    }

    /// Share of positions whose most likely word is the same, 0 to 1.
    pub(crate) fn top1_share(&self) -> f64 {
        self.same_top1 as f64 / self.positions as f64
    }

    /// Mean KL divergence in nats.
    pub(crate) fn mean_kl(&self) -> f64 {
        self.kl_sum / self.positions as f64
    }

    /// Largest KL divergence of any position, in nats.
    pub(crate) fn largest_kl(&self) -> f64 {
        self.kl_max
    }

    /// Largest absolute difference of any logit.
    pub(crate) fn largest_difference(&self) -> f32 {
        self.largest_difference
    }

    /// Prints the numbers.
    pub(crate) fn print(&self, what: &str) {
        println!(
            "{what}: {} positions, top-1 {:.2} %, mean KL {:.3e}, largest KL {:.3e}, largest logit difference {:.3e}",
            self.positions,
            100.0 * self.top1_share(),
            self.mean_kl(),
            self.kl_max,
            self.largest_difference
        );
    }
}

#[test]
fn the_measures_measure() {
    let a = vec![0.0, 1.0, 2.0];
    let shifted = vec![5.0, 6.0, 7.0];
    let other = vec![2.0, 1.0, 0.0];
    let same = Agreement::of(std::slice::from_ref(&a), &[shifted]);
    assert!(same.mean_kl().abs() < 1e-6 && same.top1_share() == 1.0, "a constant changes no distribution");
    let far = Agreement::of(&[a], &[other]);
    assert!(far.top1_share() == 0.0 && (far.mean_kl() - 1.1504).abs() < 1e-3, "{far:?}");
}
