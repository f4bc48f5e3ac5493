//! Logistic regression over several classes with an L2 penalty, minimized by L-BFGS. The same input gives the same weights.

const MAX_STEPS: usize = 150;
/// Number of earlier steps from which the curvature is estimated.
const MEMORY: usize = 8;
/// The search ends when a step improves the loss by less than this share.
const MIN_GAIN: f64 = 1e-5;

/// One example: the numbers of its features, its class, and how much it counts.
pub(super) struct TrainingRow {
    pub(super) features: Vec<usize>,
    pub(super) class: usize,
    pub(super) weight: f64,
}

/// Weights by feature and class, one row of `classes` values per feature. `penalty` says how strongly they are kept small.
pub(super) fn fit(cases: &[TrainingRow], features: usize, classes: usize, penalty: f64) -> Vec<f64> {
    let loss = |weights: &[f64], slope: &mut [f64]| loss_and_slope(cases, classes, penalty, weights, slope);
    minimize(features * classes, loss)
}

fn loss_and_slope(cases: &[TrainingRow], classes: usize, penalty: f64, weights: &[f64], slope: &mut [f64]) -> f64 {
    for (one, weight) in slope.iter_mut().zip(weights) {
        *one = penalty * weight;
    }
    let mut loss = 0.5 * penalty * dot(weights, weights);
    let mut sums = vec![0.0; classes];
    for case in cases {
        sums.fill(0.0);
        for &feature in &case.features {
            for (sum, weight) in sums.iter_mut().zip(&weights[feature * classes..]) {
                *sum += weight;
            }
        }
        let top = sums.iter().copied().fold(f64::MIN, f64::max);
        let total: f64 = sums.iter().map(|sum| (sum - top).exp()).sum();
        loss -= case.weight * (sums[case.class] - top - total.ln());
        for (class, sum) in sums.iter_mut().enumerate() {
            let chance = (*sum - top).exp() / total;
            *sum = case.weight * (chance - f64::from(u8::from(class == case.class)));
        }
        for &feature in &case.features {
            for (one, error) in slope[feature * classes..].iter_mut().zip(&sums) {
                *one += error;
            }
        }
    }
    loss
}

/// The weights with the smallest loss, found by L-BFGS with step halving.
fn minimize(size: usize, loss_and_slope: impl Fn(&[f64], &mut [f64]) -> f64) -> Vec<f64> {
    let (mut weights, mut slope) = (vec![0.0; size], vec![0.0; size]);
    let mut loss = loss_and_slope(&weights, &mut slope);
    let mut history: Vec<LearningStep> = Vec::new();
    for _ in 0..MAX_STEPS {
        let direction = direction(&slope, &history);
        let descent = dot(&slope, &direction);
        let mut length = if history.is_empty() { 1.0 / dot(&slope, &slope).sqrt() } else { 1.0 };
        let (mut next, mut next_slope) = (vec![0.0; size], vec![0.0; size]);
        let mut next_loss;
        loop {
            for at in 0..size {
                next[at] = weights[at] + length * direction[at];
            }
            next_loss = loss_and_slope(&next, &mut next_slope);
            if next_loss <= loss + 1e-4 * length * descent || length < 1e-10 {
                break;
            }
            length /= 2.0;
        }
        let step = LearningStep::between((&weights, &slope), (&next, &next_slope));
        if step.curvature > 0.0 {
            history.push(step);
        }
        if history.len() > MEMORY {
            history.remove(0);
        }
        let gain = (loss - next_loss) / loss;
        (weights, slope, loss) = (next, next_slope, next_loss);
        if gain < MIN_GAIN {
            break;
        }
    }
    weights
}

/// How weights and slope changed in one step.
struct LearningStep {
    moved: Vec<f64>,
    turned: Vec<f64>,
    curvature: f64,
}

impl LearningStep {
    fn between(from: (&[f64], &[f64]), to: (&[f64], &[f64])) -> Self {
        let difference = |to: &[f64], from: &[f64]| to.iter().zip(from).map(|(to, from)| to - from).collect::<Vec<_>>();
        let (moved, turned) = (difference(to.0, from.0), difference(to.1, from.1));
        let curvature = dot(&moved, &turned);
        Self { moved, turned, curvature }
    }
}

/// The direction in which to go: the slope, corrected by the curvature of the last steps.
fn direction(slope: &[f64], history: &[LearningStep]) -> Vec<f64> {
    let mut direction: Vec<f64> = slope.iter().map(|one| -one).collect();
    let mut shares = Vec::new();
    for step in history.iter().rev() {
        let share = dot(&step.moved, &direction) / step.curvature;
        add_scaled(&mut direction, -share, &step.turned);
        shares.push(share);
    }
    if let Some(last) = history.last() {
        let scale = last.curvature / dot(&last.turned, &last.turned);
        for one in &mut direction {
            *one *= scale;
        }
    }
    for (step, share) in history.iter().zip(shares.into_iter().rev()) {
        let back = dot(&step.turned, &direction) / step.curvature;
        add_scaled(&mut direction, share - back, &step.moved);
    }
    direction
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn add_scaled(target: &mut [f64], factor: f64, values: &[f64]) {
    for (one, value) in target.iter_mut().zip(values) {
        *one += factor * value;
    }
}
