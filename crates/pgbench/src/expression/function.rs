//! The functions of expressions: their names, and how many arguments they take.

/// A function, as it is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Mod,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// Arguments that a call can have at most.
pub(super) const ARGUMENTS_MAX: usize = 16;

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) function: Function,
    /// Fewest and most arguments.
    pub(super) arguments: (usize, usize),
    /// Whether a last argument that is missing is the variable `default_seed`.
    pub(super) is_seeded: bool,
}

impl Signature {
    const fn new(function: Function, arguments: usize) -> Signature {
        Signature { function, arguments: (arguments, arguments), is_seeded: false }
    }

    const fn seeded(function: Function, arguments: usize) -> Signature {
        Signature { function, arguments: (arguments - 1, arguments), is_seeded: true }
    }

    const fn of_many(function: Function) -> Signature {
        Signature { function, arguments: (1, ARGUMENTS_MAX), is_seeded: false }
    }
}

/// All functions, each with its name in small letters.
const FUNCTIONS: [(&str, Signature); 21] = [
    ("abs", Signature::new(Function::Abs, 1)),
    ("debug", Signature::new(Function::Debug, 1)),
    ("double", Signature::new(Function::Double, 1)),
    ("exp", Signature::new(Function::Exp, 1)),
    ("greatest", Signature::of_many(Function::Greatest)),
    ("hash", Signature::seeded(Function::HashMurmur2, 2)),
    ("hash_fnv1a", Signature::seeded(Function::HashFnv1a, 2)),
    ("hash_murmur2", Signature::seeded(Function::HashMurmur2, 2)),
    ("int", Signature::new(Function::Int, 1)),
    ("least", Signature::of_many(Function::Least)),
    ("ln", Signature::new(Function::Ln, 1)),
    ("mod", Signature::new(Function::Mod, 2)),
    ("permute", Signature::seeded(Function::Permute, 3)),
    ("pi", Signature::new(Function::Pi, 0)),
    ("pow", Signature::new(Function::Power, 2)),
    ("power", Signature::new(Function::Power, 2)),
    ("random", Signature::new(Function::Random, 2)),
    ("random_exponential", Signature::new(Function::RandomExponential, 3)),
    ("random_gaussian", Signature::new(Function::RandomGaussian, 3)),
    ("random_zipfian", Signature::new(Function::RandomZipfian, 3)),
    ("sqrt", Signature::new(Function::Sqrt, 1)),
];

/// The function of a name, in any case.
pub(super) fn find(name: &str) -> Option<Signature> {
    FUNCTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, signature)| *signature)
}
