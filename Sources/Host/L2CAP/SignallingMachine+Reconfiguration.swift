import Bluetooth

// Other sizes of enhanced channels (Core 5.4, Vol 3, Part A, 4.27 and 4.28).
extension SignallingMachine {
  /// Tells the device that our ends of channels take other sizes. They have to take them from now on, and the earlier
  /// ones until `reconfigured`.
  /// - Parameters:
  ///   - numbers: up to five enhanced channels.
  ///   - packet: the longest packet, in octets; no shorter than before.
  ///   - piece: the longest piece; shorter than before only for one channel.
  /// - Throws: the rule that the sizes break.
  package mutating func reconfigure(
    _ numbers: [UInt16], packet: UInt16, piece: UInt16, at now: Instant
  ) throws(Reconfiguration.Refusal) -> [Action] {
    guard reconfiguration == nil else { return [] }
    let entries = numbers.compactMap { channels[$0] }.filter { $0.mode == .enhanced }
    guard entries.count == numbers.count else { throw .invalidNumber }
    try Reconfiguration.check(entries.map(\.own), packet: packet, piece: piece)
    let identifier = nextIdentifier()
    reconfiguration = Reconfiguration(
      numbers: numbers, packet: packet, piece: piece, identifier: identifier, until: now.advanced(by: Self.timeout))
    return request(SignallingPacket.Code.reconfigureRequest, identifier, [packet, piece] + numbers)
  }

  /// The device answered our request.
  mutating func reconfigured(_ packet: SignallingPacket) -> [Action] {
    guard let result = packet.words(1)?.first else { return [] }
    return reconfigured(packet.identifier, Reconfiguration.Refusal(result: result))
  }

  /// Our request has an outcome, if it is the one with this identifier.
  mutating func reconfigured(_ identifier: UInt8, _ refusal: Reconfiguration.Refusal?) -> [Action] {
    guard let change = reconfiguration, change.identifier == identifier else { return [] }
    reconfiguration = nil
    if refusal == nil {
      for number in change.numbers { channels.change(number) { $0.own = $0.own.resized(change.packet, change.piece) } }
    }
    return [.reconfigured(change.numbers, refusal)]
  }

  /// The device tells that its ends take other sizes.
  mutating func resized(_ request: SignallingPacket) -> [Action] {
    guard let words = request.words, words.count > 2 else { return reject(request) }
    let (packet, piece) = (words[0], words[1])
    var numbers: [UInt16] = []
    do throws(Reconfiguration.Refusal) {
      numbers = try resize(words[2...], packet, piece)
    } catch {
      return respond(request, SignallingPacket.Code.reconfigureResponse, [error.result])
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
