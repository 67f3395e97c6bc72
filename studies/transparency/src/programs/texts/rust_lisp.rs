//! rust_lisp: programs are parsed and interpreted.

fn input() -> String {
    "(begin
        (defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
        (defun count (n sum) (if (< n 1) sum (count (- n 1) (+ sum n))))
        (+ (fib 20) (count 2000 0)))"
        .to_owned()
}

#[inline(never)]
fn root(text: &String) -> u64 {
    use std::{cell::RefCell, rc::Rc};
    let environment = Rc::new(RefCell::new(rust_lisp::default_env()));
    let mut value = 0;
    for expression in rust_lisp::parser::parse(text) {
        let result = rust_lisp::interpreter::eval(environment.clone(), &expression.unwrap()).unwrap();
        value = result.to_string().parse().unwrap();
    }
    value
}
