import Capture

/// The numbers of controllers in recordings: the kernel's, and for adapters without one others from the last on that
/// btmon shows. None of these is the number of a kernel's controller, whichever of both is told of first.
struct CaptureNumbers {
  private static let lastShown: UInt16 = 15
  /// Of adapters without a controller of the kernel.
  private var own: [AdapterSlot: UInt16] = [:]
  /// The numbers that stand for the kernel's.
  private var kernels: [UInt16: UInt16] = [:]

  /// The number of an adapter's controller.
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
