import CSystemd

/// A source watched by sd-event, with its place in the loop's rounds.
public class EventSource {
  unowned let loop: EventLoop
  /// Nil before it is set up and after the end.
  private(set) var source: OpaquePointer?
  private let priority: EventLoop.Priority
  /// True if it was served in this round.
  var isServed = false
  /// True while it stands behind unserved sources.
  private(set) var isDeferred = false

  init(loop: EventLoop, priority: EventLoop.Priority) {
    self.loop = loop
    self.priority = priority
  }

  deinit { cancel() }

  /// Adopts a source made by sd-event.
  func adopt(
    _ call: String, _ make: (inout OpaquePointer?, UnsafeMutableRawPointer) -> Int32
  ) throws(EventLoopError) {
    var source: OpaquePointer?
    try EventLoopError.check(make(&source, Unmanaged.passUnretained(self).toOpaque()), call)
    self.source = source
    if let source { sd_event_source_set_priority(source, priority.rawValue) }
  }

  /// The object behind a callback's pointer.
  static func from(_ context: UnsafeMutableRawPointer?) -> Self? {
    context.map { Unmanaged<Self>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Ends the watch; nothing more is delivered, not even pending events. To be called before the descriptor is closed.
  public func cancel() {
    guard let source else { return }
    self.source = nil
    sd_event_source_disable_unref(source)
  }

  /// Goes behind the sources not served in this round.
  func `defer`() {
    guard !isDeferred, let source else { return }
    isDeferred = true
    sd_event_source_set_priority(source, EventLoop.Priority.served)
  }

  /// Has its own priority again.
  func restore() {
    isServed = false
    guard isDeferred else { return }
    isDeferred = false
    if let source { sd_event_source_set_priority(source, priority.rawValue) }
  }
}
