import Bluetooth

/// The values of programs' characteristics that devices read in parts. A program is asked for the whole value; it is
/// asked for later parts only beyond the end of its answer, as not all programs heed the offset.
struct LongReads {
  private struct Key: Hashable {
    let program: String
    /// bled's name of the device.
    let central: String
  }

  private struct Value {
    let handle: UInt16
    let octets: [UInt8]
    let time: Instant
  }

  /// Timeout between two parts read by a device (Core 5.4, Vol 3, Part F, 3.3.3).
  private static let lifetime = Duration.seconds(30)
  private static let maximum = 256

  private var values: [Key: Value] = [:]

  /// A program has given a value from its beginning.
  mutating func began(_ octets: [UInt8], _ handle: UInt16, _ central: String, of program: String, at now: Instant) {
    let key = Key(program: program, central: central)
    if values[key] == nil, values.count >= Self.maximum {
      let limit = now.advanced(by: .zero - Self.lifetime)
      values = values.filter { $0.value.time > limit }
      if values.count >= Self.maximum { values = [:] }
    }
    values[key] = Value(handle: handle, octets: octets, time: now)
  }

  /// The part of a value from an offset on; nil if the program has to be asked.
  func part(
    from offset: Int, _ handle: UInt16, _ central: String, of program: String, at now: Instant
  ) -> [UInt8]? {
    guard let value = value(handle, central, program, now), offset < value.octets.count else { return nil }
    return Array(value.octets.dropFirst(offset))
  }

  /// The answer of a program that was asked from an offset on: empty if it has returned the whole value again.
  func answer(
    _ octets: [UInt8], _ handle: UInt16, _ central: String, of program: String, at now: Instant
  ) -> [UInt8] {
    value(handle, central, program, now)?.octets == octets ? [] : octets
  }

  private func value(_ handle: UInt16, _ central: String, _ program: String, _ now: Instant) -> Value? {
    guard let value = values[Key(program: program, central: central)], value.handle == handle,
      value.time.advanced(by: Self.lifetime) > now
    else { return nil }
    return value
  }

  /// A program has left the bus.
  mutating func forget(_ program: String) { values = values.filter { $0.key.program != program } }
}
