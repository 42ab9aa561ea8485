import Bluetooth

// Other sizes for the device's ends of enhanced channels (Core 5.4, Vol 3, Part A, 4.27 and 4.28). Ours keep theirs.
extension SignallingMachine {
  /// The device announces new sizes of its ends.
  mutating func resized(_ request: SignallingPacket) -> [Action] {
    guard let words = request.words, words.count > 2 else { return reject(request) }
    let (packet, piece) = (words[0], words[1])
    var numbers: [UInt16] = []
    do throws(Reconfiguration.Refusal) {
      numbers = try resize(words[2...], packet, piece)
    } catch {
      return respond(request, SignallingPacket.Code.reconfigureResponse, [error.rawValue])
    }
    return respond(request, SignallingPacket.Code.reconfigureResponse, [0])
      + numbers.map { .resized($0, packet: packet, piece: piece) }
  }

  /// - Parameter remotes: the device's numbers.
  /// - Returns: ours.
  private mutating func resize(
    _ remotes: ArraySlice<UInt16>, _ packet: UInt16, _ piece: UInt16
  ) throws(Reconfiguration.Refusal) -> [UInt16] {
    guard remotes.count <= Reconfiguration.maximum else { throw .unacceptable }
    let numbers = remotes.compactMap { channels.local(of: $0) }
    let entries = numbers.compactMap { channels[$0] }.filter { $0.mode == .enhanced }
    guard entries.count == remotes.count else { throw .invalidNumber }
    try Reconfiguration.check(entries.map(\.remote), packet: packet, piece: piece)
    for number in numbers { channels.change(number) { $0.remote = $0.remote.resized(packet, piece) } }
    return numbers
  }
}
