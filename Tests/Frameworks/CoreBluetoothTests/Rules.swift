// Rules on which a program can rely, in the order in which one uses the API. The names of tests cite them:
// `scripts/check-citations` fails for a rule without a test, and for a test of a rule that is not here.
//
// R1  Delegates are called on the manager's queue, one call after the other even if it is concurrent, and never from
//     within a call of the program. After `stopScan` no report follows.
// R2  The state is `unknown` until the first update. A delegate that is set later is told of it then, unless another
//     was. Until it is `poweredOn`, calls are ignored, reported as a misuse on standard error, and not made up for
//     later.
// R3  When the state leaves `poweredOn`, scans, links and advertisements end. Below `poweredOff`, published services
//     are removed, too.
// R4  If the daemon ends, the state is `resetting`, then the following state; if it does not return within 10 s, the
//     state is `unsupported`.
// R5  Delegates are weak. Managers and discovered peripherals live as long as the program retains them; a peripheral
//     that is released is disconnected, or its pending connection is cancelled. The peripherals of a manager that is
//     released are `disconnected`.
// R6  Without `AllowDuplicates` a scan reports a device once, and again when its advertising data changes. A new scan
//     starts over.
// R7  A manager has one object for each device, and shares it with no other manager. `connect` takes over the object of
//     a manager that does not use the device, which is then this one's; where that is connected, or this manager has an
//     object of its own for the device, it connects its own and says so on standard error.
// R8  Advertisement and scan response are one report, with the data of both in Apple's types; an unknown RSSI is 127.
//     Anonymous advertisements are not reported.
// R9  A device is reported if it advertises one of the services, or, if no services are given, always. Solicited
//     services are matched if requested.
// R10 Filters and options always apply.
// R11 `connect` has no time limit, the peripheral is `connecting` at once, and cancelling it calls
//     `didDisconnectPeripheral` without an error.
// R12 A link is shared: cancelling ends the program's own use of it, with its own `didDisconnectPeripheral`.
// R13 The error says why a link ended: `connectionTimeout`, `peripheralDisconnected` (also if the adapter or the daemon
//     ended it), `peerRemovedPairingInformation` or `encryptionTimedOut` if encrypting it or pairing failed, or
//     `connectionFailed` if it was never established.
// R14 After `didDisconnectPeripheral` no request is answered. `services` stays and is stale.
// R15 Known devices are retrieved by identifier, connected ones by service; identifiers belong to this host and outlast
//     the program.
// R16 `connect` on a connected peripheral calls `didConnect` again.
// R17 Requests to a peripheral are executed and answered in the order of the calls. Channels are opened in the order of
//     their calls, beside the other requests: a device may take long to answer.
// R18 Discovery adds to earlier results, in order of the handles; an empty list means all. A discovery is answered even
//     if nothing was found.
// R19 An attribute that is discovered again with the same handle and UUID keeps its object.
// R20 `value` is set before the delegate is called. Long values are read completely; a read that fails keeps the old
//     value.
// R21 A write with response can have 512 octets; a longer one fails with `invalidAttributeValueLength`. One without can
//     have MTU − 3, and 512 at most; longer ones, and writes that the characteristic does not allow, are dropped and
//     logged. One that the daemon refuses is reported on standard error and in the daemon's log, once.
// R22 There is limited room for writes without response; `peripheralIsReady` is called when there is room again, and
//     once when none waits any more, so a program that writes without asking may wait for it, too. A write for which
//     there is no room is dropped and logged, once. `cancelPeripheralConnection` ends the connection when the earlier
//     ones have left; while a request is unanswered, at once.
// R23 `setNotifyValue` enables notifications if the characteristic has both, and fails if it has neither. Descriptor
//     2902 must not be written.
// R24 An attribute that needs encryption is read, written and subscribed to after the daemon has encrypted the
//     connection, and paired if there was no bond; the program sees the result only. Where that fails it is refused:
//     `insufficientAuthentication`, or `insufficientEncryption` where there is a bond.
// R25 The MTU is exchanged automatically.
// R26 `didModifyServices` names the services that changed; they and their contents are no longer valid. Where services
//     were only added it names none. A change between the discovery and the daemon's subscription to Service Changed is
//     reported if the device has a Database Hash.
// R27 Services are added when the state is `poweredOn`. Changes to an added service take effect after it was removed
//     and added again.
// R28 A characteristic with a value is read-only, and read without the delegate; for one without a value the delegate
//     is asked each time.
// R29 A request is answered once, several writes with the first of them. The value of a read begins at the offset.
// R30 Write commands arrive as requests, too; answering them has no effect.
// R31 `updateValue` returns false if there is no room; `peripheralManagerIsReady` follows. A value longer than
//     `maximumUpdateValueLength` (MTU − 3, and 512 at most) is truncated and logged, once. Without subscribers it
//     returns true.
// R32 A characteristic that only supports indications sends indications; the system handles the confirmations.
// R33 Advertising twice, and data that does not fit, are errors; calls are answered in order; only name, services and
//     iBeacons are advertised.
// R34 A central that comes back has the same identifier; subscriptions of bonded centrals are restored.
// R35 Services 1800 and 1801 cannot be added: `uuidNotAllowed`.
// R36 A central has one object while it is connected.
// R37 With a restore identifier `willRestoreState` is called first, then the state update, then the events of the
//     meantime.
// R38 The restored objects remain in use: peripherals with their services, services with their subscribers, scan and
//     advertisement.
// R39 The streams of a channel call their delegate in the run loops in which they are scheduled: `openCompleted`, then
//     the available events, once until the next read or write, and `endEncountered`. Closing one removes it from its
//     run loops. Without a run loop a program asks, or reads and waits.
// R40 A published number for channels is told, then each channel that a central opens. Open channels outlast
//     `unpublishL2CAPChannel`.
