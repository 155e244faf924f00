import Testing

extension Trait where Self == TimeLimitTrait {
  /// Ends a test that waits for what never comes.
  ///
  /// The time runs while a test waits for a thread that others hold, which takes minutes on a busy machine. The
  /// limit is therefore far above what any test takes.
  package static var hangLimit: Self { .timeLimit(.minutes(Effort.isLong ? 120 : 15)) }
}
