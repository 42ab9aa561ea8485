import CoreBluetooth
import Testing

struct ErrorTests {
  @Test func codesHaveApplesNumbers() {
    let numbers: [(CBError.Code, Int)] = [
      (.unknown, 0), (.invalidParameters, 1), (.invalidHandle, 2), (.notConnected, 3), (.outOfSpace, 4),
      (.operationCancelled, 5), (.connectionTimeout, 6), (.peripheralDisconnected, 7), (.uuidNotAllowed, 8),
      (.alreadyAdvertising, 9), (.connectionFailed, 10), (.connectionLimitReached, 11), (.unknownDevice, 12),
      (.operationNotSupported, 13), (.peerRemovedPairingInformation, 14), (.encryptionTimedOut, 15),
      (.tooManyLEPairedDevices, 16), (.leGattExceededBackgroundNotificationLimit, 17),
      (.leGattNearBackgroundNotificationLimit, 18),
    ]
    for (code, number) in numbers {
      #expect(code.rawValue == number)
      #expect(CBError.Code(rawValue: number) == code)
    }
    let answers: [(CBATTError.Code, Int)] = [
      (.success, 0), (.invalidHandle, 1), (.readNotPermitted, 2), (.writeNotPermitted, 3), (.invalidPdu, 4),
      (.insufficientAuthentication, 5), (.requestNotSupported, 6), (.invalidOffset, 7), (.insufficientAuthorization, 8),
      (.prepareQueueFull, 9), (.attributeNotFound, 10), (.attributeNotLong, 11), (.insufficientEncryptionKeySize, 12),
      (.invalidAttributeValueLength, 13), (.unlikelyError, 14), (.insufficientEncryption, 15),
      (.unsupportedGroupType, 16), (.insufficientResources, 17),
    ]
    for (code, number) in answers {
      #expect(code.rawValue == number)
      #expect(CBATTError.Code(rawValue: number) == code)
    }
  }

  @available(*, deprecated) @Test func theMisspelledCodeIsTheSame() {
    #expect(CBError.Code.unkownDevice == .unknownDevice)
    #expect(CBError.unkownDevice == .unknownDevice)
  }

  @Test func numbersOutsideTheListAreCodesToo() throws {
    let code = try #require(CBATTError.Code(rawValue: 0x80))
    #expect(code.rawValue == 0x80)
    #expect(code != .unlikelyError)
    switch code {
    case .success: Issue.record("0x80 is not success")
    default: break
    }
    let error: any Error = NSError(domain: CBATTErrorDomain, code: 0x80)
    #expect((error as? CBATTError)?.code == code)
    #expect((error as? CBATTError)?.errorCode == 0x80)
  }

  @Test func casts() throws {
    let plain: any Error = NSError(domain: CBErrorDomain, code: 10)
    #expect((plain as? CBError)?.code == .connectionFailed)
    #expect(plain as? CBATTError == nil)
    #expect(NSError(domain: "Other", code: 10) as? CBError == nil)
    let anything: Any = plain
    #expect((anything as? CBError)?.code == .connectionFailed)

    let text = "the device is gone"
    let error: any Error = CBError(.peripheralDisconnected, userInfo: [NSLocalizedDescriptionKey: text])
    #expect((error as NSError).domain == CBErrorDomain)
    #expect((error as NSError).code == 7)
    #expect((error as NSError).userInfo[NSLocalizedDescriptionKey] as? String == text)
    #expect(error.localizedDescription == text)
    let typed = try #require(error as? CBError)
    #expect(typed.localizedDescription == text)
    #expect(typed.userInfo.count == 1)
    #expect(typed.errorUserInfo.count == 1)
    #expect(CBError.errorDomain == CBErrorDomain)
    #expect(typed == CBError(.peripheralDisconnected, userInfo: [NSLocalizedDescriptionKey: text]))
  }

  @Test(arguments: [CBError(.connectionFailed) as any Error, NSError(domain: CBErrorDomain, code: 10)])
  func catching(_ error: any Error) {
    do {
      throw error
    } catch CBError.connectionFailed {
      return
    } catch {
      Issue.record("not caught as CBError.connectionFailed")
    }
  }

  @Test func matching() {
    let error: any Error = CBATTError(.insufficientEncryption)
    switch error {
    case CBATTError.insufficientAuthentication: Issue.record("another code")
    case CBError.unknown: Issue.record("another domain")
    case CBATTError.insufficientEncryption: break
    default: Issue.record("not matched")
    }
  }

  @Test("an error that a program makes has Apple's text, unless it is given another")
  func texts() {
    let text = "The connection has timed out unexpectedly."
    let error = CBError(.connectionTimeout)
    let any: any Error = error
    #expect(error.localizedDescription == text && any.localizedDescription == text)
    #expect((error as NSError).localizedDescription == text && (any as NSError).localizedDescription == text)
    #expect(error._nsError.localizedDescription == text && error.userInfo.isEmpty)
    #expect((CBATTError(.invalidHandle) as any Error).localizedDescription == "The handle is invalid.")
    let plain: any Error = NSError(domain: CBErrorDomain, code: 6)
    #expect((plain as? CBError)?.localizedDescription == text)
  }

  @Test("errors can be elements of sets, and of enumerations that are hashed")
  func hashing() {
    enum Reason: Hashable {
      case link(CBError)
      case answer(CBATTError)
    }
    let reasons: Set<Reason> = [
      .link(CBError(.connectionFailed)), .link(CBError(.connectionFailed)), .link(CBError(.unknown)),
      .answer(CBATTError(.invalidHandle)), .answer(CBATTError(.invalidHandle)),
    ]
    #expect(reasons.count == 3)
    #expect(Set([CBError(.connectionFailed, userInfo: ["key": 1]), CBError(.connectionFailed)]).count == 2)
  }
}
