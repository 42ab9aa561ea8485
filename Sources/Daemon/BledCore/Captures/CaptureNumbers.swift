import Capture

/// The numbers of controllers in recordings: the kernel's number, or for other adapters a number from the highest that
/// btmon shows downwards. The latter never equals a kernel's controller, whichever is reported first.
struct CaptureNumbers {
  private static let lastShown: UInt16 = 15
  /// Numbers of adapters without a kernel controller.
  private var own: [AdapterSlot: UInt16] = [:]
  /// Replacements for the kernel's numbers.
  private var kernels: [UInt16: UInt16] = [:]

  /// The number of the adapter's controller.
  /// - Parameter controller: the kernel's number; nil if it has none.
  mutating func number(of controller: UInt16?, on adapter: AdapterSlot) -> UInt16 {
    let known = if let controller { kernels[controller] } else { own[adapter] }
    if let known { return known }
    let taken = Set(own.values).union(kernels.values)
    let free =
      (0...Self.lastShown).last { !taken.contains($0) }
      ?? (Self.lastShown..<CaptureRecord.noAdapter).first { !taken.contains($0) } ?? CaptureRecord.noAdapter
    guard let controller else {
      own[adapter] = free
      return free
    }
    let number = taken.contains(controller) ? free : controller
    kernels[controller] = number
    return number
  }
}
