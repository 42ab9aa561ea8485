import Adapter
import EventLoop
import Glibc

/// The kernel's switches for radios: the blocks of a controller, and their changes
/// (Documentation/driver-api/rfkill.rst).
enum Rfkill {
  /// The problem that a controller is blocked; nil if it is not.
  static func problem(with adapter: String) -> AdapterProblem? {
    let folder = "/sys/class/bluetooth/\(adapter)"
    for name in Folder.names(in: folder) where name.hasPrefix("rfkill") {
      if isSet("\(folder)/\(name)/hard") {
        return AdapterProblem(
          kind: .blocked, message: "\(adapter) is blocked by a hardware switch (rfkill, hard)",
          remedy: "use the machine's wireless switch or key, or its firmware settings")
      }
      if isSet("\(folder)/\(name)/soft") {
        return AdapterProblem(
          kind: .blocked, message: "\(adapter) is blocked by rfkill", remedy: "run `rfkill unblock bluetooth`")
      }
    }
    return nil
  }

  /// Reports changes, where the kernel lets us listen; otherwise a blocked adapter is retried from time to time.
  static func watch(_ loop: EventLoop, _ changed: @escaping () -> Void) -> Descriptor? {
    let number = open("/dev/rfkill", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else { return nil }
    let descriptor = Descriptor(number)
    let watching: Void? = try? descriptor.whenReady(on: loop, priority: .high) { [weak descriptor] readiness in
      // The event's content is irrelevant: the receiver checks the state itself.
      var event = [UInt8](repeating: 0, count: 64)
      var isChanged = false
      while read(number, &event, event.count) > 0 { isChanged = true }
      if isChanged { changed() } else if readiness.contains(.failed) { descriptor?.close() }
    }
    return watching == nil ? nil : descriptor
  }

  private static func isSet(_ path: String) -> Bool {
    guard let file = fopen(path, "re") else { return false }
    defer { fclose(file) }
    return fgetc(file) == Int32(UInt8(ascii: "1"))
  }
}
