import Adapter
import Bluetooth

extension SimulatedAdapter {
  /// Where it looks keys up.
  public func setBonds(_ bonds: any BondSource) { pairing.bonds = bonds }

  /// Bonds are looked up each time.
  public func bondsAdded() {}

  /// How it pairs from now on.
  public func setPairing(_ settings: PairingSettings) { pairing.settings = settings }

  /// The adapter keeps its address: only simulated devices hear it.
  public func setPrivacy(_ settings: PrivacySettings?) {}

  /// Answers the question that this device's pairing waits for.
  public func answer(_ question: QuestionID, _ answer: PairingAnswer) { pairing.answer(question, answer) }

  /// The devices of scenarios have no other way than the air.
  public func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    scheduler.schedule(after: .zero) { done(.failure(Self.noOutOfBand)) }
  }

  /// The same.
  public func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError) {
    throw Self.noOutOfBand
  }

  /// There are never any.
  public func removeOutOfBand(of address: DeviceAddress) {}

  private static var noOutOfBand: BluetoothError {
    GAPError.notSupported.error("the simulated adapter does not pair out of band")
  }

  /// Ends the link of a device whose keys the owner of the bonds has removed.
  public func unpair(_ address: DeviceAddress) {
    for link in links where link.peer == address || link.peerIdentity == address { link.disconnect() }
  }
}
