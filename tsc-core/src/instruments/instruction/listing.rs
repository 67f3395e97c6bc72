//! An instruction as data: code that executes it a known number of times and is timed, and the macro that writes this code.

use std::fmt;

/// Code that executes a listing in a loop. The arguments are the iterations and the scratch memory; the result is the ticks.
pub(super) type Code = fn(u64, *mut u8) -> i64;

/// Code that executes a listing `copies` times in each iteration, and times itself. Only the expansion of
/// [`instruction!`](crate::instruction!) makes it.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Kernel {
    pub run: Code,
    /// The same loop without the instruction, if there would be anything in it. Its time is subtracted.
    pub without: Option<Code>,
    pub copies: u32,
}

/// An instruction or a listing that can be measured. [`instruction!`](crate::instruction!) creates it.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    name: &'static str,
    operands: &'static str,
    pub(super) requires: Option<Requirement>,
    pub(super) latency: Option<Kernel>,
    pub(super) throughput: Option<Kernel>,
}

/// The name of a CPU feature, and whether this CPU has it.
type Requirement = (&'static str, fn() -> bool);

impl Instruction {
    /// What [`instruction!`](crate::instruction!) expands to. Not public API and not subject to SemVer.
    ///
    /// # Safety
    ///
    /// The listings in the kernels do only what `instruction!` permits.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn new(
        name: &'static str,
        operands: &'static str,
        requires: Option<Requirement>,
        latency: Option<Kernel>,
        throughput: Option<Kernel>,
    ) -> Self {
        Self {
            name,
            operands,
            requires,
            latency,
            throughput,
        }
    }

    /// The mnemonic.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The operands, and what else distinguishes this row from others with the same mnemonic.
    #[must_use]
    pub const fn operands(&self) -> &'static str {
        self.operands
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(format!("{} {}", self.name, self.operands).trim_end())
    }
}

/// Describes an instruction, or a listing of several, so that its latency and its reciprocal throughput can be measured. It is for x86-64;
/// elsewhere, its expansion does not compile.
///
/// ```no_run
/// # #[cfg(target_arch = "x86_64")] {
/// use tsc_runtime::instruction;
///
/// // SAFETY: it changes a register that a listing may change.
/// let imul = unsafe { instruction!("imul", "r64,r64", listing r"imul r\i, rcx") };
/// println!("{}", imul.measure()?);
/// # }
/// # Ok::<(), tsc_runtime::instruction::InstructionError>(())
/// ```
///
/// After the name and the operands come these parts, in this order. Either `listing` or `chain` is required; all others are optional.
///
/// | part | meaning |
/// |---|---|
/// | `requires "avx2"` | the CPU feature, by Rust's name for it, `"rdtscp"` or `"serialize"`; an error if the CPU lacks it |
/// | `class vector` | `\i` takes the values 4 … 15 (`xmm\i`, `ymm\i`, `zmm\i`); `class general`, the default: 8 … 15 (`r\i`, `r\i\()d`, …) |
/// | `init "…"` | executed once before the loop, to put values into registers and the scratch memory |
/// | `finish "…"` | executed once after the loop, for example to empty the x87 stack |
/// | `setup "…"` | executed before every copy of `listing`; its time is measured alone and subtracted |
/// | `listing "…"` | the instruction, for the reciprocal throughput; its copies use the registers of the class in turn |
/// | `link "…"` | executed before every copy of `chain`; its time is measured alone and subtracted |
/// | `chain "…"` | the instruction, for the latency: each copy must need the result of the previous one. Without this part, `listing` with the first register of the class, even if its copies are independent. `chain none`: the latency is not measured |
/// | `copies N` | an iteration of the loop has N × 8 copies of the listing (`vector`: N × 12), or N × 2 links of the chain. N is 1, 2, 5, 10 or 50 (the default); use a smaller one for slow instructions |
///
/// A listing is assembly in Intel's syntax, as in `asm!`: `;` separates instructions, and a literal brace is doubled. It may use and change
/// rax, rbx, rcx, rdx, r8 … r15, the flags, the x87 registers, and all vector and mask registers. It must leave rsp, rbp, rsi and rdi
/// unchanged. rsi contains the address of 8 KiB of scratch memory, which is zero at first and aligned to a page. The other general
/// registers contain 1 unless `init` sets them. Labels are numbers (`2:` … `jnz 2b`), except 40961, which the loop uses.
///
/// # Safety
///
/// As in `asm!`, it is undefined behaviour if a listing changes other registers or other memory, jumps out of itself, or raises an exception.
///
/// On Linux, each listing is executed once in a child process before it is measured. If it does not end there within a second of CPU time
/// or five seconds, or is ended by a signal, the result is an [`InstructionError`](crate::instruction::InstructionError), and the program goes on.
#[macro_export]
macro_rules! instruction {
    ($name:literal, $operands:literal
        $(, requires $requires:tt)?
        $(, class $class:ident)?
        $(, init $init:expr)?
        $(, finish $finish:expr)?
        $(, setup $setup:expr)?
        $(, listing $listing:expr)?
        $(, link $link:expr)?
        $(, chain $chain:tt)?
        $(, copies $copies:tt)? $(,)?
    ) => {
        $crate::instruction::Instruction::new(
            $name,
            $operands,
            $crate::__instruction!(@requires $($requires)?),
            $crate::__instruction!(@latency [$($class)?] [$($init)?, $($finish)?] [$($link)?] [$($chain)?] [$($listing)?] [$($copies)?]),
            $crate::__instruction!(@throughput [$($class)?] [$($init)?, $($finish)?] [$($setup)?] [$($listing)?] [$($copies)?]),
        )
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __instruction {
    (@requires) => { ::core::option::Option::None };
    (@requires "rdtscp") => { ::core::option::Option::Some(("rdtscp", || $crate::tsc::Fence::Rdtscp.is_supported())) };
    (@requires "serialize") => { ::core::option::Option::Some(("serialize", || $crate::tsc::Fence::Serialize.is_supported())) };
    (@requires $feature:tt) => { ::core::option::Option::Some(($feature, || ::std::arch::is_x86_feature_detected!($feature))) };

    (@copies []) => { 50 };
    (@copies [$copies:tt]) => { $copies };

    (@latency $class:tt $init:tt $link:tt [none] $listing:tt $copies:tt) => { ::core::option::Option::None };
    (@latency $class:tt $init:tt $link:tt [] [] $copies:tt) => { ::core::option::Option::None };
    (@latency $class:tt $init:tt $link:tt [] [$listing:expr] $copies:tt) => {
        $crate::__instruction!(@latency $class $init $link [$listing] [$listing] $copies)
    };
    (@latency [vector] $init:tt $link:tt [$chain:expr] $listing:tt $copies:tt) => {
        $crate::__instruction!(@kernel 2, ", 4, 4", $init $link $chain, $copies)
    };
    (@latency [$($general:ident)?] $init:tt $link:tt [$chain:expr] $listing:tt $copies:tt) => {
        $crate::__instruction!(@kernel 2, ", 8, 8", $init $link $chain, $copies)
    };

    (@throughput $class:tt $init:tt $setup:tt [] $copies:tt) => { ::core::option::Option::None };
    (@throughput [vector] $init:tt $setup:tt [$listing:expr] $copies:tt) => {
        $crate::__instruction!(@kernel 12, ", 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15", $init $setup $listing, $copies)
    };
    (@throughput [$($general:ident)?] $init:tt $setup:tt [$listing:expr] $copies:tt) => {
        $crate::__instruction!(@kernel 8, ", 8, 9, 10, 11, 12, 13, 14, 15", $init $setup $listing, $copies)
    };

    (@kernel $each:literal, $registers:literal, $init:tt $setup:tt $body:expr, $copies:tt) => {
        ::core::option::Option::Some($crate::instruction::Kernel {
            run: $crate::__instruction!(@run $copies $registers, $init $setup $body),
            without: $crate::__instruction!(@without $copies $registers, $init $setup),
            copies: $crate::__instruction!(@copies $copies) * $each,
        })
    };

    (@without $copies:tt $registers:literal, $init:tt []) => { ::core::option::Option::None };
    (@without $copies:tt $registers:literal, $init:tt $setup:tt) => {
        ::core::option::Option::Some($crate::__instruction!(@run $copies $registers, $init $setup ""))
    };

    (@repeat [] $text:expr) => { $crate::__instruction!(@repeat [50] $text) };
    (@repeat [1] $text:expr) => { $text };
    (@repeat [2] $text:expr) => { concat!($text, $text) };
    (@repeat [5] $text:expr) => { concat!($text, $text, $text, $text, $text) };
    (@repeat [10] $text:expr) => { $crate::__instruction!(@repeat [5] concat!($text, $text)) };
    (@repeat [50] $text:expr) => {
        $crate::__instruction!(@repeat [5] $crate::__instruction!(@repeat [10] $text))
    };

    (@run $copies:tt $registers:literal, [$($init:expr)?, $($finish:expr)?] [$($setup:expr)?] $body:expr) => {{
        fn run(iterations: u64, scratch: *mut u8) -> i64 {
            let start = <$crate::tsc::Lfence as $crate::tsc::FencePolicy>::start();
            // SAFETY: whoever calls `Instruction::new` guarantees that the listing uses only the registers and the memory that `instruction!`
            // permits. These registers are declared as clobbered here, except rbx, which is saved. `scratch` points to that memory.
            unsafe {
                ::core::arch::asm!(
                    "push rbx",
                    ".irp i, rax, rbx, rcx, rdx, r8, r9, r10, r11, r12, r13, r14, r15; mov \\i, 1; .endr",
                    $($init,)?
                    ".p2align 6",
                    "40961:",
                    concat!(".irp i", $crate::__instruction!(@repeat $copies $registers)),
                    $($setup,)?
                    $body,
                    ".endr",
                    "dec rdi",
                    "jnz 40961b",
                    $($finish,)?
                    "pop rbx",
                    inout("rdi") iterations => _,
                    inout("rsi") scratch => _,
                    out("r12") _,
                    out("r13") _,
                    out("r14") _,
                    out("r15") _,
                    clobber_abi("sysv64"),
                );
            }
            $crate::tsc::elapsed(start, <$crate::tsc::Lfence as $crate::tsc::FencePolicy>::stop())
        }
        run
    }};
}
