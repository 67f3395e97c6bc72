//! Defines the three functions once, for attributes and for scopes.

/// Defines `empty`, `chain` and `fib`, and `FUNCTIONS` of them: either under an attribute, `annotate!(#[attribute])`, or with a
/// scope's statement first, `annotate!(scope)`, where `scope` is a macro that gets the function's name.
#[macro_export]
macro_rules! annotate {
    (#[$($attribute:tt)*]) => { $crate::annotate! { @ [#[$($attribute)*]] [$crate::no_scope] } };
    ($scope:ident) => { $crate::annotate! { @ [] [$scope] } };
    (@ [$($attribute:tt)*] [$($scope:tt)*]) => {
        $($attribute)*
        #[inline(never)]
        fn empty(value: u64) -> u64 {
            $($scope)*!("empty");
            value
        }

        $($attribute)*
        #[inline(never)]
        fn chain(value: u64) -> u64 {
            $($scope)*!("chain");
            $crate::work::chain(value)
        }

        $($attribute)*
        #[inline(never)]
        fn fib(value: u64) -> u64 {
            $($scope)*!("fib");
            if value < 2 { value } else { fib(value - 1) + fib(value - 2) }
        }

        const FUNCTIONS: $crate::Functions = $crate::Functions { empty, chain, fib };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! no_scope {
    ($name:literal) => {};
}
