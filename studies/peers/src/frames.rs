//! puffin's frames as a contestant: for puffin itself, and for profiling, which uses them.

use peers::{Contestant, Reading, Readings};
use puffin::{GlobalFrameView, MergeScope, merge_scopes_for_thread};

pub struct Frames(GlobalFrameView);

impl Contestant for Frames {
    fn start() -> Self {
        puffin::set_scopes_on(true);
        Self(GlobalFrameView::default())
    }

    fn stretch(calls: &mut dyn FnMut()) {
        calls();
        puffin::GlobalProfiler::lock().new_frame();
    }

    fn report(self) -> Readings {
        let view = self.0.lock();
        let frames: Vec<_> = view
            .recent_frames()
            .filter_map(|frame| frame.unpacked().ok())
            .collect();
        let Some(thread) = frames
            .iter()
            .find_map(|frame| frame.thread_streams.keys().next())
        else {
            return Readings::default();
        };
        let scopes =
            merge_scopes_for_thread(view.scope_collection(), &frames, thread).unwrap_or_default();
        Readings::of(|name| {
            let is_named = |id: &puffin::ScopeId| {
                let details = view.scope_collection().fetch_by_id(id);
                details.is_some_and(|details| details.name().ends_with(name))
            };
            let (calls, ns) = sum(&scopes, &is_named);
            (calls != 0).then(|| Reading::new(calls, ns as f64 / calls as f64))
        })
    }
}

/// Calls and ns of the scopes of a name, at any depth.
fn sum(scopes: &[MergeScope<'_>], is_named: &impl Fn(&puffin::ScopeId) -> bool) -> (u64, i64) {
    scopes.iter().fold((0, 0), |(calls, ns), scope| {
        let below = sum(&scope.children, is_named);
        let here = if is_named(&scope.id) {
            (scope.num_pieces as u64, scope.total_duration_ns)
        } else {
            (0, 0)
        };
        (calls + here.0 + below.0, ns + here.1 + below.1)
    })
}
