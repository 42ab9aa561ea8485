extension Clock<Duration> {
  /// Measures time from now on.
  /// - Returns: the time since then, at each call.
  package func stopwatch() -> @Sendable () -> Duration {
    let beginning = now
    return { beginning.duration(to: now) }
  }
}
