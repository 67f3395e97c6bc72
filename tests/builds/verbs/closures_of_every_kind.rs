//! Closures and `async` blocks as `cargo tsc run --all` may find them. A test measures this program, and compares what it prints.

#![allow(dead_code, unused, non_upper_case_globals)]
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

static frame: u32 = 7;
const slot: u32 = 8;
static TABLE: OnceLock<Vec<u32>> = OnceLock::new();
static CALL: fn(u32) -> u32 = |x| {
    let y = x + 1;
    helper(y)
};

const CONST: fn(u32) -> u32 = |x| if x > 1 { helper(x) } else { 1 };

fn helper(x: u32) -> u32 {
    std::hint::black_box(x)
}

const fn constant(x: u32) -> u32 {
    let _f: fn(u32) -> u32 = |x| {
        let y = helper(x);
        y
    };
    x
}

struct Guard<'a>(&'a Cell<u32>, u32);
impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() * 10 + self.1);
    }
}

trait Shape {
    fn area(&self) -> f64;
    fn boxed(&self) -> Box<dyn Fn(f64) -> f64 + '_> {
        Box::new(move |x| {
            let a = self.area();
            a * x
        })
    }
}

struct Square(f64);
impl Shape for Square {
    fn area(&self) -> f64 {
        helper(1) as f64 * self.0
    }
}

fn generic<T: Debug + Clone, const N: usize>(items: [T; N]) -> Vec<String> {
    items
        .iter()
        .map(|item| {
            let copy: T = item.clone();
            format!("{:?}{}", copy, N)
        })
        .collect()
}

fn returns_closure(n: u32) -> impl Fn(u32) -> u32 {
    move |x| {
        let y = helper(x);
        y + n
    }
}

fn returns_nested(n: u32) -> impl Fn(u32) -> Box<dyn Fn(u32) -> u32> {
    move |x| {
        let base = helper(x) + n;
        Box::new(move |y| {
            let z = helper(y);
            z + base
        })
    }
}

fn coercion() -> Result<u32, Box<dyn Error>> {
    let f = |s: &str| -> Result<u32, Box<dyn Error>> {
        let n: u32 = s.parse()?;
        if n > 5 {
            return Err("large".into());
        }
        Ok(helper(n))
    };
    let g: Box<dyn Fn(u32) -> Box<dyn Debug>> = Box::new(|x| {
        let y = helper(x);
        if y > 1 {
            Box::new(y)
        } else {
            Box::new("small")
        }
    });
    println!("{:?}", g(3));
    f("4")
}

fn statics() -> &'static [u32] {
    let f = || -> &'static [u32] {
        helper(1);
        &[1, 2, 3]
    };
    f()
}

fn promoted() -> &'static u32 {
    (|| {
        helper(1);
        &5
    })()
}

fn unsafes(p: &[u32]) -> usize {
    let f = |i: usize| unsafe { *p.get_unchecked(helper(i as u32) as usize) } as usize;
    let g = |i: u32| if i > 1 { helper(i) } else { 2 } + 1;
    let h = |i: u32| match i { 0 => helper(1), _ => helper(2) } == 2;
    let k = |i: u32| { helper(i) } & 1;
    f(0) + g(1) as usize + h(1) as usize + k(1) as usize
}

fn order() -> u32 {
    let log = Cell::new(0);
    let f = |_: Guard, x: u32| {
        let _a = Guard(&log, 1);
        let _b = Guard(&log, 2);
        helper(x);
        match Guard(&log, 3) {
            Guard(_, n) => n + x,
        }
    };
    let by = Guard(&log, 5);
    let once = move || {
        let _c = Guard(by.0, 6);
        helper(by.1)
    };
    f(Guard(&log, 4), 1);
    once();
    log.get()
}

fn diverges() -> u32 {
    let f = |x: u32| -> ! {
        if x > 3 {
            std::process::exit(1)
        }
        panic!("never {x}", x = helper(x))
    };
    let g = |x: u32| loop {
        if helper(x) > 0 {
            break x;
        }
    };
    if helper(0) > 1 {
        f(1)
    }
    g(2)
}

fn labels(n: u32) -> u32 {
    let f = |n: u32| 'outer: loop {
        for i in 0..n {
            if helper(i) > 3 {
                break 'outer i;
            }
        }
        return 0;
    };
    f(n)
}

fn items() -> u32 {
    let f = |x: u32| {
        fn inner(x: u32) -> u32 {
            helper(x)
        }
        struct Pair(u32, u32);
        macro_rules! twice {
            ($e:expr) => {
                $e + $e
            };
        }
        const K: u32 = 3;
        use std::collections::BTreeMap;
        let p = Pair(inner(x), K);
        twice!(p.0) + p.1 + BTreeMap::<u32, u32>::new().len() as u32
    };
    f(1)
}

fn captures() -> String {
    let mut all = Vec::new();
    let name = String::from("n");
    let pair = (String::from("a"), String::from("b"));
    let mut push = |x: u32| {
        all.push(x);
        all.len()
    };
    push(1);
    push(2);
    let take = move || {
        let moved = pair.0;
        moved + &name
    };
    let r#match = |r#type: u32| {
        let r#fn = helper(r#type);
        r#fn
    };
    take() + &format!("{:?}{}", all, r#match(1))
}

fn lifetimes<'a>(words: &'a [String]) -> Vec<&'a str> {
    let mut cache: HashMap<&'a str, usize> = HashMap::new();
    words
        .iter()
        .filter_map(|w| {
            let n = cache.entry(w.as_str()).or_insert(0);
            *n += 1;
            if *n > 1 { None } else { Some(w.as_str()) }
        })
        .collect()
}

fn locks(m: &Mutex<Vec<u32>>) -> usize {
    let f = |x: u32| {
        m.lock().unwrap().push(x);
        m.lock().unwrap().len()
    };
    let g = || match m.lock().unwrap().first() {
        Some(x) => helper(*x) as usize,
        None => 0,
    };
    let h = || {
        m.lock()
            .unwrap()
            .iter()
            .map(|x| {
                let y = helper(*x);
                y as usize
            })
            .sum::<usize>()
    };
    f(3) + g() + h()
}

fn sort(v: &mut Vec<(u32, String)>) {
    v.sort_by(|a, b| {
        let (x, y) = (helper(a.0), helper(b.0));
        y.cmp(&x).then_with(|| a.1.cmp(&b.1))
    });
    v.retain(|(n, _)| {
        let k = helper(*n);
        k != 2
    });
    let _: Vec<_> = v
        .iter_mut()
        .map(|&mut (ref mut n, ref s)| {
            *n += s.len() as u32;
            *n
        })
        .collect();
}

fn higher<F>(f: F) -> u32
where
    F: for<'a> Fn(&'a u32) -> &'a u32,
{
    *f(&3)
}

fn identity() -> u32 {
    higher(|x| {
        helper(*x);
        x
    })
}

fn recursive(n: u32) -> u32 {
    fn go(f: &dyn Fn(&dyn Fn(u32) -> u32, u32) -> u32, n: u32) -> u32 {
        f(&|k| go(f, k), n)
    }
    go(
        &|again, n| if n == 0 { helper(0) } else { again(n - 1) + 1 },
        n,
    )
}

fn arrays() -> [u32; {
    let x = 3;
    x
}] {
    std::array::from_fn(|i| {
        let k = helper(i as u32);
        k * 2
    })
}

async fn ready(x: u32) -> u32 {
    x
}

type Reply<'a> =
    Pin<Box<dyn Future<Output = Result<u32, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

fn reply<'a>(x: &'a u32) -> Reply<'a> {
    Box::pin(async move {
        let y = ready(*x).await;
        if y > 9 {
            return Err("nine".into());
        }
        Ok(helper(y))
    })
}

fn handler() -> Box<dyn Fn(u32) -> Pin<Box<dyn Future<Output = u32>>>> {
    Box::new(|x| {
        Box::pin(async move {
            let y = ready(x).await;
            helper(y)
        })
    })
}

#[rustfmt::skip]
async fn nested(n: u32) -> Result<u32, String> {
    let fut = async {
        let a = ready(n).await;
        if a > 100 {
            return Err("big".to_owned());
        }
        Ok::<u32, String>(a)
    };
    let r = Rc::new(3);
    let local = async {
        let k = *r + n;
        ready(k).await
    };
    let s = S {
        fut:async{
            let q = ready(2).await;
            helper(q)
        },
    };
    Ok(fut.await? + local.await + s.fut.await)
}

struct S<F> {
    fut: F,
}

fn deep(n: u32) -> Pin<Box<dyn Future<Output = u32>>> {
    let future = async move {
        let k = helper(n);
        if k == 0 { 0 } else { deep(k - 1).await + 1 }
    };
    Box::pin(future)
}

fn block_on<F: Future>(f: F) -> F::Output {
    let mut f = Box::pin(f);
    let w: std::task::Waker = Arc::new(W).into();
    let mut c = std::task::Context::from_waker(&w);
    loop {
        if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut c) {
            return x;
        }
    }
}

struct W;
impl std::task::Wake for W {
    fn wake(self: Arc<Self>) {}
}

fn send<T: Send + 'static>(t: T) -> T {
    t
}

fn main() {
    println!("{} {}", CALL(1), CONST(2));
    println!(
        "{:?}",
        TABLE.get_or_init(|| {
            let n = helper(3);
            (0..n).collect()
        })
    );
    println!(
        "{} {:?} {}",
        constant(1),
        generic([1, 2]),
        Square(2.0).boxed()(3.0)
    );
    println!("{} {}", returns_closure(1)(2), returns_nested(1)(2)(3));
    println!("{:?} {:?} {}", coercion().unwrap(), statics(), promoted());
    println!("{} {} {} {}", unsafes(&[4]), order(), diverges(), labels(9));
    println!(
        "{} {} {:?}",
        items(),
        captures(),
        lifetimes(&["a".to_owned(), "a".to_owned()])
    );
    println!("{}", locks(&Mutex::new(vec![1])));
    let mut v = vec![
        (1, "x".to_owned()),
        (2, "y".to_owned()),
        (3, "z".to_owned()),
    ];
    sort(&mut v);
    println!("{:?} {} {} {:?}", v, identity(), recursive(4), arrays());
    println!(
        "{:?} {} {:?} {}",
        block_on(reply(&3)).unwrap(),
        block_on(handler()(4)),
        block_on(nested(1)),
        block_on(deep(5))
    );
    println!(
        "{}",
        block_on(send(async {
            let x = ready(1).await;
            helper(x)
        }))
    );
    println!(
        "{:?}",
        std::thread::spawn(|| {
            let x = helper(1);
            x
        })
        .join()
        .unwrap()
    );
    println!("{} {}", frame, slot);
}
