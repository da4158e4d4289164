//! SQL as text: tokens, statements, dumps, names of parameters, literals.
