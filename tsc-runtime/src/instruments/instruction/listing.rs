//! What an instruction is to this module: two pieces of code of known length, and the macro that writes them.

use std::fmt;

/// Executes a listing in a loop of so many iterations, with the scratch memory, and times itself.
pub(super) type Code = fn(u64, *mut u8) -> i64;

/// A piece of code that executes a listing `copies` times in each iteration, and times itself.
#[derive(Clone, Copy)]
pub struct Kernel {
    run: Code,
    /// The same loop with all but the instruction; what it takes is subtracted.
    without: Option<Code>,
    copies: u32,
}

impl Kernel {
    /// For the expansion of [`instruction!`](crate::instruction!), whose code keeps the promises made here.
    #[doc(hidden)]
    #[must_use]
    pub const fn __new(
        run: fn(u64, *mut u8) -> i64,
        without: Option<fn(u64, *mut u8) -> i64>,
        copies: u32,
    ) -> Self {
        Self {
            run,
            without,
            copies,
        }
    }

    /// The code with the instruction.
    pub(super) fn code(&self) -> Code {
        self.run
    }

    /// The code without it, if there is anything left then.
    pub(super) fn code_without(&self) -> Option<Code> {
        self.without
    }

    pub(super) fn copies(&self) -> u32 {
        self.copies
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("copies", &self.copies)
            .field("subtracts", &self.without.is_some())
            .finish_non_exhaustive()
    }
}

/// An instruction, or any listing, that can be measured: written with [`instruction!`](crate::instruction!).
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    name: &'static str,
    operands: &'static str,
    requires: Option<&'static str>,
    latency: Option<Kernel>,
    throughput: Option<Kernel>,
}

impl Instruction {
    /// For the expansion of [`instruction!`](crate::instruction!).
    #[doc(hidden)]
    #[must_use]
    pub const fn __new(
        name: &'static str,
        operands: &'static str,
        requires: Option<&'static str>,
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

    /// The operands, and what else distinguishes this row from others of the same name.
    #[must_use]
    pub const fn operands(&self) -> &'static str {
        self.operands
    }

    /// The CPU feature it needs beyond x86-64's baseline, by Rust's name for it.
    #[must_use]
    pub const fn requires(&self) -> Option<&'static str> {
        self.requires
    }

    pub(super) fn latency_kernel(&self) -> Option<&Kernel> {
        self.latency.as_ref()
    }

    pub(super) fn throughput_kernel(&self) -> Option<&Kernel> {
        self.throughput.as_ref()
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operands.is_empty() {
            return f.pad(self.name);
        }
        f.pad(&format!("{} {}", self.name, self.operands))
    }
}

/// Describes an instruction, or a listing of several, so that its latency and its reciprocal throughput can be measured.
///
/// ```no_run
/// use tsc_runtime::instruction;
///
/// let imul = instruction!("imul", "r64,r64", listing r"imul r\i, rcx");
/// println!("{}", imul.measure()?);
/// # Ok::<(), tsc_runtime::instruction::InstructionError>(())
/// ```
///
/// After the name and the operands come, in this order and all but one of `listing` and `chain` optional:
///
/// | part | is |
/// |---|---|
/// | `requires "avx2"` | the CPU feature without which the row is skipped, by Rust's name for it, or `"rdtscp"` |
/// | `class vector` | `\i` runs through 4 … 15 (`xmm\i`, `ymm\i`, `zmm\i`); `class general`, the default: 8 … 15 (`r\i`, `r\i\()d`, …) |
/// | `init "…"` | executed once, before the loop: puts values into registers and into the scratch memory |
/// | `finish "…"` | executed once, after the loop: leaves the x87 stack empty, say |
/// | `setup "…"` | executed before every copy of `listing`; measured alone and subtracted |
/// | `listing "…"` | the instruction, for the reciprocal throughput: its copies take one register of the class after the other |
/// | `link "…"` | executed before every copy of `chain`; measured alone and subtracted |
/// | `chain "…"` | the instruction, for the latency: each copy must need the last one's result. Without it, `listing` with the first register of the class, whatever that depends on; `chain none`: there is no latency to speak of |
/// | `copies N` | how many times 8 (`vector`: 12) copies of the listing, and twice that many links of the chain, one round of the loop has: 1, 2, 5, 10 or, the default, 50. Fewer for what takes long |
///
/// A listing is assembly in Intel's syntax as `asm!` takes it: instructions are separated by `;`, a literal brace is doubled. It may use
/// and change rax, rbx, rcx, rdx, r8 … r15, the flags, the x87 and all vector and mask registers; it must leave rsp, rbp,
/// rsi and rdi as they are. rsi holds the address of 8 KiB of scratch memory, zero at first, aligned to a page. General
/// registers other than those `init` sets are not zero at first. Labels are numbers (`2:` … `jnz 2b`), any but 40961, which is the loop's own.
/// A listing that writes other memory, jumps away, or raises an exception is undefined behaviour, as it is in `asm!`.
///
/// On Linux each listing is executed once in a process of its own before it is measured. What does not end there within a second, or
/// ends that process, is an [`InstructionError`](crate::instruction::InstructionError) and not the end of the program.
#[macro_export]
macro_rules! instruction {
    ($name:literal, $operands:literal
        $(, requires $requires:literal)?
        $(, class $class:ident)?
        $(, init $init:expr)?
        $(, finish $finish:expr)?
        $(, setup $setup:expr)?
        $(, listing $listing:expr)?
        $(, link $link:expr)?
        $(, chain $chain:tt)?
        $(, copies $copies:tt)? $(,)?
    ) => {
        $crate::instruction::Instruction::__new(
            $name,
            $operands,
            $crate::__instruction!(@option $($requires)?),
            $crate::__instruction!(@latency [$($class)?] [$($init)?, $($finish)?] [$($link)?] [$($chain)?] [$($listing)?] [$($copies)?]),
            $crate::__instruction!(@throughput [$($class)?] [$($init)?, $($finish)?] [$($setup)?] [$($listing)?] [$($copies)?]),
        )
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __instruction {
    (@option) => { ::core::option::Option::None };
    (@option $some:expr) => { ::core::option::Option::Some($some) };

    (@copies) => { 50 };
    (@copies $copies:tt) => { $copies };

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

    (@kernel $each:literal, $registers:literal, $init:tt [] $body:expr, [$($copies:tt)?]) => {
        ::core::option::Option::Some($crate::instruction::Kernel::__new(
            $crate::__instruction!(@run [$($copies)?] $registers, $init [] $body),
            ::core::option::Option::None,
            $crate::__instruction!(@copies $($copies)?) * $each,
        ))
    };
    (@kernel $each:literal, $registers:literal, $init:tt [$setup:expr] $body:expr, [$($copies:tt)?]) => {
        ::core::option::Option::Some($crate::instruction::Kernel::__new(
            $crate::__instruction!(@run [$($copies)?] $registers, $init [$setup] $body),
            ::core::option::Option::Some($crate::__instruction!(@run [$($copies)?] $registers, $init [$setup] "")),
            $crate::__instruction!(@copies $($copies)?) * $each,
        ))
    };

    (@repeat [] $text:literal) => { $crate::__instruction!(@repeat [50] $text) };
    (@repeat [1] $text:literal) => { $text };
    (@repeat [2] $text:literal) => { concat!($text, $text) };
    (@repeat [5] $text:literal) => { concat!($text, $text, $text, $text, $text) };
    (@repeat [10] $text:literal) => {
        concat!($text, $text, $text, $text, $text, $text, $text, $text, $text, $text)
    };
    (@repeat [50] $text:literal) => {
        concat!(
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text
        )
    };

    (@run $copies:tt $registers:literal, [$($init:expr)?, $($finish:expr)?] [$($setup:expr)?] $body:expr) => {{
        fn run(iterations: u64, scratch: *mut u8) -> i64 {
            let start = <$crate::tsc::Lfence as $crate::tsc::FencePolicy>::start();
            // SAFETY: whoever wrote the listing promises that it keeps to the registers and the memory that `instruction!` grants;
            // those are declared here as clobbered, but for rbx, which is saved. `scratch` points to the memory granted.
            unsafe {
                ::core::arch::asm!(
                    "push rbx",
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
