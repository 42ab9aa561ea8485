import Adapter
import Bluetooth

extension SimulatedAdapter {
  /// Sets the source of its keys.
  public func setBonds(_ bonds: any BondSource) { pairing.bonds = bonds }

  /// Bonds are looked up each time.
  public func bondsAdded() {}

  /// Sets the pairing settings.
  public func setPairing(_ settings: PairingSettings) { pairing.settings = settings }

  /// The adapter keeps its address: only simulated devices see it.
  public func setPrivacy(_ settings: PrivacySettings?) {}

  /// Answers the question that this device's pairing waits for.
  public func answer(_ question: QuestionID, _ answer: PairingAnswer) { pairing.answer(question, answer) }

  /// The devices of scenarios have no out-of-band data.
  public func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    scheduler.schedule(after: .zero) { done(.failure(Self.noOutOfBand)) }
  }

  /// Not supported, as above.
  public func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError) {
    throw Self.noOutOfBand
  }

  /// There is never any.
  public func removeOutOfBand(of address: DeviceAddress) {}

  private static var noOutOfBand: BluetoothError {
    GAPError.notSupported.error("the simulated adapter does not pair out of band")
  }

  /// Ends the link of a device after the owner of the bonds has removed its keys.
  public func unpair(_ address: DeviceAddress) {
    for link in links where link.peer == address || link.peerIdentity == address { link.disconnect() }
  }
}
