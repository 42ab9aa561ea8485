extension MemberWords {
  /// Made of the doc comments of the messages by BLED_RECORD=1 swift test --filter OpenRPC: change those.
  static let recorded = #"""
    # AdapterDescription An adapter as clients see it.
    adapter The name by which calls choose it: "hci0".
    address Its address; missing while it is not known.
    addressType The type of the address, "public" or "random"; missing while it is not known.
    advertising How many advertisements it sends at the moment.
    heldBack Which of "connecting", "advertising" and "scanning" its controller cannot do beside the links that it
     holds; they wait until links have ended. Missing for none.
    kind The kind of the adapter: "kernel", a controller of this machine, or "simulated".
    links How many links it holds.
    longestPacket How many octets a packet that its controller sends on a link can carry, 27 to 251 (the maximum data
     length). Missing while it is not on.
    name The system's name for it.
    phys The PHYs that its controller has: "1M", "2M", "coded". Missing while it is not on.
    privateAddress The private address under which devices see it at present, six octets in hex with colons. Missing
     where they see `address`.
    problem Why it is "failed", and what to do.
    scanning Whether it scans at the moment.
    state "absent" (unplugged), "off", "starting", "on", "suspended" (the system sleeps) or "failed" (see `problem`).
    takingTurns Which of "connecting", "advertising" and "scanning" its controller cannot do at once and therefore does
     in turns at the moment; missing if all that is wanted goes together.
    # AdapterDescription.Problem A problem of an adapter.
    kind "permission" (the daemon may not use it), "inUse" (another program has it), "blocked" (by rfkill),
     "unsupported" (it lacks what is needed) or "hardware" (it does not answer, or wrongly).
    message The problem, in words.
    remedy The remedy, in words.
    # AdapterList.Result
    adapters In the order in which the daemon was given them; the first is the default.
    # AdapterPower.Params
    adapter The adapter; the first if missing.
    on Whether to switch it on.
    # AdvertisingChanged.Params
    advertising The number that `advertising.start` gave, 1 or more.
    ended Why it has ended by itself, if it has: "duration" (also of the high duty cycle), "count", or "connected" where
     it was directed to the device that connected. It is not there any more then.
    interval The actual interval in seconds while it is on the air: it grows with the number of advertisements that take
     turns.
    onAir Whether it is on the air: sent by its adapter, or taking turns with others. False while the adapter is off or
     gone.
    reason Why it failed, if it did.
    # AdvertisingStart.Params The parameters of advertising.start: the data to advertise, and how to advertise.
    adapter The adapter; the first if missing.
    anonymous With `extended`: without our address; neither connectable nor scannable.
    appearance The appearance of the device, 0 to 65535 (Assigned Numbers, 2.6); 833 is a heart rate belt.
    channels The primary channels, 37 to 39, each at most once; all if missing.
    connectable False: not connectable. True if missing.
    count The number of advertising events after which it ends, 1 to 255; never if missing.
    directedTo Only this device may connect: the daemon's identifier of it, or its address. The advertisement ends when
     it has connected. With legacy PDUs there is no data then.
    directedToType For an address in `directedTo`, "public" or "random"; if missing, random if the two top bits are set,
     else public.
    duration How many seconds after it was first on the air it ends, 0.01 to 86400; never if missing.
    extended True: extended PDUs, which only scanners of Bluetooth 5.0 and later hear. False if missing: legacy PDUs.
    highDuty With `directedTo`: the device is called as often as possible, at least every 3.75 ms, for 1.28 s at the
     most.
    includeTxPower With `extended`: the transmit power is told in the header.
    interval The advertising interval in seconds, 0.02 to 10.24; 0.1 if missing.
    manufacturerData Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    name The local name.
    ownAddress A static random address to advertise with, whose two top bits are set; the adapter's own if missing.
    periodic With `extended`, neither connectable, scannable nor anonymous: data that is sent at fixed times to whoever
     is synchronised (periodic.sync). It begins and ends with the advertisement, which announces it.
    primaryPHY The PHY on which the advertisement begins, "1M" or with `extended` "coded", "codedS2" (500 kb/s) or
     "codedS8" (125 kb/s); "1M" if missing. The two need a controller that lets us choose.
    scannable Whether scan requests are answered. If missing: with legacy PDUs if it is connectable or something is in
     the scan response; with extended PDUs not.
    secondaryPHY With `extended`: the PHY on which it goes on, "1M", "2M", "coded", "codedS2" or "codedS8"; if missing,
     as `primaryPHY`.
    serviceData Service data: an object whose members are named by the UUIDs of services, as `{"180F": "64"}`.
    services The services to list.
    solicitedServices The services to solicit.
    structures Further AD structures, sent as they are; flags (type 1) take the place of the daemon's.
    txPower The transmit power that is aimed for, in dBm, -127 to 20; the controller's choice if missing.
    uri A URI.
    # AdvertisingStart.Periodic A train of periodic advertisements (Core 5.4, Vol 6, Part B, 4.4.2.12).
    includeTxPower True: the transmit power is told in the header.
    interval The time between two of its packets in seconds, 0.0075 to 81.91875; 0.1 if missing.
    manufacturerData Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    serviceData Service data, by UUID.
    services The services to list.
    structures Further AD structures, sent as they are.
    # AdvertisingStart.Result
    adapter The adapter that sends it.
    advertising The number that names it in this session, 1 or more.
    interval The actual interval in seconds: longer than requested when advertisements take turns.
    shortenedName The name as it is sent, if it had to be shortened.
    txPower The transmit power that the controller chose, in dBm, if `txPower` asked for one and the controller tells.
    # AdvertisingStart.Structure An AD structure (Core Specification Supplement, Part A).
    data Its data, 0 to 254 octets.
    type The type of the data, 0 to 255 (Assigned Numbers, 2.3).
    # AdvertisingStop.Params
    advertising The number that `advertising.start` gave, 1 or more.
    # AttributeFound The attribute that a path of UUIDs names. Its members are missing if the call gave a handle.
    handle The handle of the attribute.
    uuid Its UUID.
    # AttributePath Names an attribute of a device: by its handle, or by UUIDs, which the daemon looks for in the
     device's primary services.
    characteristic The UUID of the characteristic.
    descriptor The UUID of a descriptor of the characteristic.
    handle The handle, 1 to 65535; alone, without any of the others.
    index Which one is meant where several match, 0 or more, in the order of their handles.
    service The UUID of the service, or of the one that the characteristic is in; any service if missing.
    # AttributeReference
    peripheral The daemon's identifier of the device.
    # AttributeValue A value with the attribute that it is of.
    handle The handle of the attribute.
    uuid Its UUID, if it was named by UUIDs.
    value The value.
    # AttributeValues
    values The values.
    # BledError
    alreadyInProgress The operation is already under way.
    ambiguousAttribute The device has several attributes of those UUIDs.
    daemonUnreachable The daemon could not be reached, or the connection to it ended.
    invalidParameter A parameter of the request is not valid; the message names it.
    limitReached A limit of the daemon was reached.
    notAllowedByProperties The characteristic's properties do not allow this.
    notPermitted The session lacks the permission.
    protocolViolation The peer violated the protocol.
    shuttingDown The daemon is shutting down.
    tooSlow The client did not read fast enough.
    unknownAttribute The device has no attribute of those UUIDs.
    unknownHandle There is no service, characteristic, descriptor or advertisement with that handle or number.
    # BondDescription A device and the keys shared with it.
    adapterAddress The address of the adapter that shares the keys.
    address Its identity address.
    addressType "public" or "random".
    keySize The size of the key, 7 to 16 octets.
    level "encrypted", "authenticated" or "secureConnections": the level of a link with these keys.
    name Its name, where known.
    peripheral The daemon's identifier of the device; missing if it is not known any more.
    # CaptureLost.Params
    capture Its number, 1 or more.
    packets How many packets, 1 or more.
    # CaptureStart.Params
    adapter Only this adapter; all of them, and those that appear later, if missing.
    format "pcapng" (link type 254) or "btsnoop" (datalink type 2001, which btmon reads); "pcapng" if missing.
    keys True: keys are recorded, too, for which the permission "sessions" is needed. Otherwise they are zeros.
    # CaptureStart.Result
    capture The number that names the recording in this session, 1 or more.
    # CaptureStop.Params
    capture Its number, 1 or more.
    # CaptureStop.Result
    lost How many are missing because they were not read in time.
    packets How many packets the recording has, notes among them.
    # ChannelDescription
    channel The number that names it in this session, 1 or more.
    mode How it was set up: "leCreditBased" or "enhanced".
    peripheral The daemon's identifier of the device.
    psm The number of the listener (SPSM), 1 to 255.
    receiveMPS The longest piece that the device cuts its packets into (MPS), in octets, 23 to 65533; absent if not
     known.
    receiveMTU The longest packet that the device may send, in octets, 23 to 65535.
    sendMPS The longest piece that packets to the device are cut into (MPS), in octets, 23 to 65533; absent if not
     known.
    sendMTU The longest packet that the device takes, in octets, 23 to 65535.
    socket The path of the socket for the token.
    token The token to send to `socket`, followed by a line feed, to get the channel's octets there: 32 hex digits.
     Valid once, for a program of the same user, within 30 seconds.
    # CharacteristicDescription A characteristic.
    descriptors Its descriptors, if they were requested.
    end The last handle that belongs to it.
    handle The handle of its value: what `gatt.read`, `gatt.write` and `gatt.subscribe` take.
    properties The operations that it supports: "broadcast", "read", "writeWithoutResponse", "write", "notify",
     "indicate", "signedWrite", "extendedProperties".
    uuid The UUID of the characteristic.
    # CharacteristicReference Names a characteristic of a device by its handle.
    handle The handle of the characteristic's value.
    peripheral The daemon's identifier of the device.
    # DescriptorDescription A descriptor.
    handle Its handle.
    uuid The UUID of the descriptor.
    # GAPError
    adapterAbsent The adapter does not exist, or it was unplugged.
    adapterFailed The adapter failed; the message says why.
    adapterOff The adapter is powered off.
    advertisingDataTooLong The content does not fit into the advertising packets.
    advertisingSetsExhausted All advertising sets are in use.
    cancelled The caller cancelled the operation.
    connectionFailed The connection could not be established.
    connectionLimitReached The adapter supports no more connections.
    disconnected The connection ended before the operation did.
    notConnected The operation needs a connection and there is none.
    notSupported The operation is not supported.
    pairingFailed Pairing failed or was refused, or the link could not be encrypted.
    timeout The caller's deadline passed.
    unknownDevice No device of that identifier, name or address is known.
    # GATTAcquire.Params
    indications True: its indications, false: its notifications, as for gatt.subscribe.
    peripheral The daemon's identifier of the device.
    values False: the program only writes. If missing: it also reads the values of a characteristic that has any.
    # GATTAcquire.Result
    handle The handle of the characteristic's value.
    maximumLength The longest value that can be written, in octets: MTU − 3, and 512 at most.
    values Whether there are packets to read.
    writes Whether packets can be written.
    # GATTDiscover.Params
    peripheral The daemon's identifier of the device.
    timeout For how many seconds it may take, more than 0 and at most a day; 60 if missing.
    # GATTDiscoverCharacteristics.Result
    characteristics In order of their handles.
    # GATTDiscoverDescriptors.Result
    descriptors In order of their handles.
    # GATTDiscoverServices.Params
    peripheral The daemon's identifier of the device.
    services Only these; all if missing or empty.
    # GATTDiscoveryProgress.Params
    characteristics How many characteristics are known so far.
    peripheral The daemon's identifier of the device.
    services How many services are known so far.
    # GATTRead.Result
    handle The handle, if the attribute was named by UUIDs.
    uuid Its UUID, likewise.
    value 0 to 512 octets.
    # GATTReadMultiple.Params
    attributes 2 or more values, as many as fit into the request: (MTU − 1) / 2.
    peripheral The daemon's identifier of the device.
    variable Whether the values have different lengths; false if missing.
    # GATTReadMultiple.Result
    value Otherwise: all values in a row.
    values With `variable`: the values, in the order of the attributes.
    # GATTReadUsingUUID.Params
    end The last handle of the range; 65535 if missing.
    peripheral The daemon's identifier of the device.
    start The first handle of the range; 1 if missing.
    uuid The UUID of the characteristics or descriptors.
    # GATTReleased.Params
    handle The handle of the characteristic's value.
    peripheral The daemon's identifier of the device.
    reason Why.
    unsent How many packets that the program had written were not sent.
    # GATTScope
    peripheral The daemon's identifier of the device.
    uuids Only these; all if missing or empty.
    # GATTServerFeatures.Result
    enhancedBearers Whether it supports EATT: several requests at once, over enhanced bearers.
    value The value as it was read; missing if the device does not have the characteristic.
    # GATTServices
    services The services.
    # GATTServicesChanged.Params
    end Last handle of the range.
    peripheral The daemon's identifier of the device.
    start First handle of the range.
    # GATTSubscribe.Params
    indications True: its indications, false: its notifications. If missing: what others have chosen already, else its
     notifications, or its indications if it has no notifications.
    peripheral The daemon's identifier of the device.
    # GATTSubscriptionLost.Params
    handle The handle of the characteristic's value.
    peripheral The daemon's identifier of the device.
    reason Why.
    # GATTValue.Params
    handle The handle of the characteristic's value.
    peripheral The daemon's identifier of the device.
    value The value.
    # GATTValuesDropped.Params
    handle The handle of the characteristic's value.
    peripheral The daemon's identifier of the device.
    values The number of values, 1 or more.
    # GATTValuesLost.Params
    packets The number of packets, 1 or more.
    peripheral The daemon's identifier of the device.
    # GATTWrite.Params
    offset Where in the device's value this one begins, in octets, 0 to 512; at its beginning if missing.
    peripheral The daemon's identifier of the device.
    response False: write without response. If missing: with response.
    signed True: a signed write (Core 5.4, Vol 3, Part G, 4.9.2).
    value The value.
    # GATTWriteReliably.Params
    peripheral The daemon's identifier of the device.
    writes 1 to 64 writes, in their order.
    # GATTWriteReliably.Result
    written The attributes written, in the order of the writes.
    # GATTWriteReliably.Write A part of a value.
    offset Where in the device's value this one begins, in octets, 0 to 512; at its beginning if missing.
    value The octets.
    # L2CAPAccept.Params
    channel The number that `l2cap.incoming` gave, 1 or more.
    packets True: the descriptor keeps packets (SOCK_SEQPACKET): one write is one packet, of at most `sendMTU` octets,
     and one read gives one. A stream otherwise.
    token True: no descriptor is passed, and the answer has a token. Not with `packets`.
    # L2CAPClose.Params
    channel The number that names it in this session, 1 or more.
    # L2CAPClosed.Params
    channel The number that names it in this session, 1 or more.
    reason Why, unless the program closed its side.
    # L2CAPOpen.Params
    mode How the channel is set up: "leCreditBased" or "enhanced", which the kernel and the device must have;
     "leCreditBased" if missing.
    packets True: the descriptor keeps packets (SOCK_SEQPACKET): one write is one packet, of at most `sendMTU` octets,
     and one read gives one. A stream otherwise.
    peripheral The daemon's identifier of the device.
    psm The number of the device's listener, 1 to 255.
    receiveMTU The longest packet that the device may send, 23 to 65535 octets, of an enhanced channel 64 or more; 8192
     if missing.
    security The security that the link must have first: "none", "encrypted", "authenticated" or "secureConnections";
     "none" if missing. A device may require more.
    token True: no descriptor is passed, and the answer has a token. Not with `packets`.
    # L2CAPPublish.Params
    adapter The adapter; the first if missing.
    mode How devices have to open channels: "leCreditBased" or "enhanced"; if missing either, where the kernel has both.
    psm The number under which devices open channels, 128 to 255; the daemon chooses one if missing.
    receiveMTU The longest packet that a device may send, 23 to 65535 octets, of an enhanced channel 64 or more; 8192 if
     missing.
    security The security that a device's link must have: "none", "encrypted", "authenticated" or "secureConnections";
     "none" if missing.
    # L2CAPPublish.Result
    adapter The adapter that listens.
    psm The number under which devices open channels, 128 to 255.
    # L2CAPUnpublish.Params
    adapter The adapter; the first if missing.
    psm The number that `l2cap.publish` gave, 128 to 255.
    # LinkDescription
    bearers How many requests of programs the device can be asked at once (enhanced ATT bearers), 2 to 3; missing where
     it is one.
    continuation How many more connection events are used after one with data, 0 to 499; missing as `subrate`.
    interval The time between two connection events, in seconds, 0.0075 to 4; missing where the controller did not tell,
     as `latency` and `timeout`.
    keySize The size of the encryption key, 7 to 16 octets; missing without encryption.
    latency How many connection events the peripheral may skip, 0 to 499.
    mtu The ATT MTU, 23 to 517 octets.
    peripheral The daemon's identifier of the device.
    role This machine's role: "central" if it connected to the device, "peripheral" if the device connected to it.
    rxOctets The longest payload of a packet on the air that the device sends, 27 to 251 octets; missing likewise.
    rxPHY The PHY of what the device sends: "1M", "2M" or "coded"; missing likewise.
    security How the link is protected: "encrypted", "authenticated" (the keys were agreed on with protection against a
     person in the middle) or "secureConnections" (the same with LE Secure Connections); missing without encryption.
    subrate The subrate factor (connection subrating): one of so many connection events is used, 2 to 500, and `latency`
     counts the used ones. Missing where each is used.
    timeout After how many seconds without a packet the link is lost, 0.1 to 32.
    txOctets The longest payload of a packet on the air that this machine sends, 27 to 251 octets; missing where the
     controller did not tell.
    txPHY The PHY of what this machine sends: "1M", "2M" or "coded"; missing where the controller did not tell.
    # LinkWish The parameters that a session wants of a link (Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2).
    continuation How many more connection events are used after one with data, 0 to 499, less than `maximumSubrate`; 0
     if missing.
    latency How many connection events the peripheral may skip, 0 to 499; 0 if missing. Times maximumSubrate, (1 +
     latency) is at most 500.
    maximumInterval The longest time between two connection events, in seconds, 0.0075 to 4; 0.045 if missing, or
     `minimumInterval` where that is more.
    maximumSubrate The maximum subrate factor, 1 to 500; `minimumSubrate` if missing. Without both each event is used,
     as every link can; a factor above 1 requires connection subrating on both sides.
    minimumInterval The shortest time between two connection events, in seconds, 0.0075 to 4; 0.015 if missing, or
     `maximumInterval` where that is less.
    minimumSubrate The minimum subrate factor (connection subrating): one of so many connection events is used, 1 to
     500; `maximumSubrate` if missing.
    timeout After how many seconds without a packet the link is lost, 0.1 to 32, and more than (1 + latency) ×
     maximumSubrate × maximumInterval × 2; if missing, 4 or as much as that rule needs.
    # Metric Something that the daemon counts or measures, under a name of Prometheus.
    help The meaning of the metric, in words: one sentence.
    kind "counter", which only grows, "gauge" or "histogram".
    name Its name: "bled_links". It ends in the unit, and that of a counter in "_total".
    samples Its values, one for each set of labels.
    # Metric.Bucket A part of a histogram.
    count How many there were.
    most The greatest measurement that counts, 0 or more, in seconds; missing in the last bucket, which counts all.
    # Metric.Sample A value of a metric.
    buckets Of a histogram, how many measurements were at most so great; missing for others.
    labels The labels that tell samples apart: "adapter", "method", "user" and so on; empty where there is only one
     sample.
    value The number of what is counted, or the value, 0 or more; of a histogram the sum of all measurements, in
     seconds.
    # MetricsGet.Result
    metrics The metrics, in the order of the page for Prometheus.
    # PairingConfirm.Params
    device The device that pairs.
    number The number that the device shows, six digits; missing if there is none to compare.
    seconds Within how many seconds to answer, 0 or more.
    # PairingConfirm.Result
    accept Whether to pair.
    # PairingDevice A device that pairs.
    address Its address.
    bondLevel The level of the keys that this machine and the device share already, "encrypted", "authenticated" or
     "secureConnections": to pair replaces them, and whoever asks may be another device. Missing if there are none.
    isOurs Whether this machine began.
    name Its name, where known.
    peripheral The daemon's identifier of the device.
    # PairingEnded.Params
    device The device.
    reason Why it did not pair; missing if it did.
    # PairingEnterPasskey.Params
    device The device that pairs.
    seconds Within how many seconds to answer, 0 or more.
    # PairingEnterPasskey.Result
    passkey The passkey, up to six digits; missing to refuse.
    # PairingForget.Params
    address Its identity address.
    peripheral The daemon's identifier of the device.
    # PairingImport.LongTermKey A key with which links are encrypted.
    authenticated Whether the pairing was protected against a person in the middle.
    central Whether it is used on links that this machine begins; otherwise on those of the device.
    diversifier Names the key in legacy pairing, 0 to 65535; 0 otherwise.
    random The same, 16 hex digits with the highest first.
    secureConnections Whether it comes from LE Secure Connections; then it is used in both roles.
    size How many of them count, 7 to 16.
    value 16 octets, the lowest first.
    # PairingImport.Params
    adapterAddress The address of the adapter that shares the keys.
    address The device's identity address.
    addressType "public" or "random".
    identityResolvingKey The key that resolves the device's private addresses, 16 octets.
    longTermKeys The keys for encryption: one, or after legacy pairing up to two, one for each role.
    signatureKeys The keys for signed writes, at most one for each side.
    # PairingImport.SignatureKey A key with which writes are signed.
    authenticated Whether the pairing was protected against a person in the middle.
    ours Whether this machine signs with it; otherwise the device does.
    value 16 octets, the lowest first.
    # PairingKeysLost.Params
    device The device.
    remedy The remedy, in words.
    side The side that has no keys: "device" or "machine".
    # PairingList.Result
    bonds The devices.
    # PairingOpen.Params
    seconds For how many seconds devices may pair, 0 to 3600.
    # PairingReadOutOfBand.Params
    adapter The adapter's identifier or address; the first one if missing.
    # PairingReadOutOfBand.Result
    address The adapter's address.
    addressType "public" or "random".
    confirmation The confirmation value, 16 octets, the lowest first as in AD structures of type 0x22.
    random The random value, 16 octets, the lowest first as in AD structures of type 0x23.
    # PairingRegister.Params
    capability The input and output of this program: "display" (shows a passkey), "displayYesNo" (has numbers compared,
     too), "keyboard" (has a passkey typed), "keyboardDisplay" (all of these) or "none".
    # PairingSetOutOfBand.Params
    adapter The adapter's identifier or address; the first one if missing.
    address The device's address: the one that it gave with the data.
    addressType "public" or "random".
    confirmation The confirmation value, 16 octets, the lowest first.
    random The random value, 16 octets, the lowest first.
    # PairingShowPasskey.Params
    device The device that pairs.
    entered How many of them are typed, 0 to 6.
    passkey Six digits.
    # PeriodicChanged.Params
    adapter The adapter.
    interval The time between two packets, in seconds, if it is.
    peripheral The daemon's identifier of the device.
    phy The PHY of the train, if it is: "1M", "2M" or "coded".
    reason Why this session does not follow it any more, if so.
    sid The number of the advertising set.
    synced Whether the adapter is synchronised with it.
    # PeriodicReport.Params
    adapter The adapter that received it.
    data The data, usually AD structures: 0 to 1650 octets.
    peripheral The daemon's identifier of the device.
    rssi Signal strength in dBm, where known.
    sid The number of the advertising set.
    time When it was received, in seconds since the epoch.
    truncated True if the controller lost the end of the data.
    txPower The transmit power in dBm, if the header says it.
    # PeriodicStop.Params
    peripheral The daemon's identifier of the device.
    sid The number of the advertising set.
    # PeriodicSync.Params
    adapter The adapter; if missing, the one that heard the device last.
    addressType For an address in `peripheral`, "public" or "random"; if missing, random if the two top bits are set,
     else public.
    peripheral The device: the daemon's identifier of it, or its address.
    sid The number of the advertising set, 0 to 15; if missing, the one that announced a train when the device was heard
     last.
    timeout Seconds after which to give up; never if missing.
    # PeriodicSync.Result
    adapter The adapter that is synchronised.
    interval The time between two packets, in seconds.
    peripheral The daemon's identifier of the device.
    phy The PHY of the train: "1M", "2M" or "coded".
    sid The number of the advertising set.
    # PeripheralConnect.Params
    adapter The adapter to connect with; if missing, the one that heard the device last, else the first.
    address The device's address; it need not have been heard before.
    addressType "public" or "random"; if missing: as last heard, else random if the two top bits are set, else public.
    name The name that the device advertises, octet for octet.
    namePrefix The beginning of the name that the device advertises, octet for octet.
    parameters The parameters that this session requests for the link from this call on; see peripheral.setParameters.
     If missing, its earlier request remains.
    peripheral The daemon's identifier of the device.
    phy The PHY that the link is to have, "1M", "2M", "coded", "codedS2" or "codedS8": as in peripheral.setPHY. With one
     of the coded ones the device is looked for on the coded PHY, too, as is one that was last heard there. If missing,
     a link that begins on "1M" goes over to "2M" where both sides have that and the configuration does not say
     otherwise.
    reconnect True: whenever the link is lost the daemon connects again, until `peripheral.disconnect` is called.
     peripheral.disconnected then has `reconnecting`, and peripheral.connected reports the new link. The last call
     applies.
    service A service that the device advertises.
    timeout After how many seconds to give up, more than 0; never if missing.
    # PeripheralConnect.Result
    adapter The adapter that holds the link.
    address Its address.
    addressType "public" or "random".
    attempts The number of attempts that were needed.
    mtu The ATT MTU that was agreed, 23 to 517 octets.
    peripheral The daemon's identifier of the device.
    # PeripheralConnectFailed.Params
    peripheral The daemon's identifier of the device.
    reason Why.
    # PeripheralConnectWaiting.Params
    peripheral The daemon's identifier of the device.
    reason Why.
    # PeripheralDisconnect.Params
    address The device's address.
    addressType "public" or "random"; if missing, both match.
    name The name of the device that is looked for.
    namePrefix The beginning of its name.
    peripheral The daemon's identifier of the device.
    service The service that it advertises.
    # PeripheralDisconnected.Params
    peripheral The daemon's identifier of the device.
    reason The reason; missing if this session disconnected.
    reconnecting True if the daemon connects again as soon as the device is there, which peripheral.connected reports.
     Missing otherwise.
    # PeripheralLinkChanged.Params
    linked Whether the link is up.
    name The device's name, where known.
    peripheral The daemon's identifier of the device.
    # PeripheralList.Entry A device that the daemon knows.
    adapter The adapter that heard it last or holds the link.
    address Its address.
    addressType "public" or "random".
    connectable Whether it accepted connections when it was last heard; missing if it was not heard.
    mine Whether this session holds the link.
    mtu The ATT MTU, 23 to 517 octets, while connected.
    name Its name, where known.
    peripheral The daemon's identifier of the device.
    rssi Signal strength when it was last heard, in dBm.
    state "disconnected", "connecting" or "connected" (for any session).
    # PeripheralList.Result
    peripherals The devices.
    # PeripheralPair.Params
    level "encrypted", "authenticated" (protected against a person in the middle) or "secureConnections" (the same with
     LE Secure Connections); "encrypted" if missing.
    minimumKeySize The shortest key that will do, 7 to 16 octets; 7 if missing.
    peripheral The daemon's identifier of the device.
    # PeripheralPair.Result
    bonded Whether both sides keep the keys, so that the next link is encrypted without pairing.
    keySize The size of the key, 7 to 16 octets.
    level "encrypted", "authenticated" or "secureConnections".
    # PeripheralRSSI.Result
    rssi The signal strength of the link, in dBm, -127 to 20.
    # PeripheralReference
    peripheral The daemon's identifier of the device.
    # PeripheralSetPHY.Params
    peripheral The daemon's identifier of the device.
    phy "1M", "2M", "coded", "codedS2" or "codedS8".
    # PeripheralSetParameters.Params
    parameters The parameters that this session requests; if missing, its request is withdrawn.
    peripheral The daemon's identifier of the device.
    # PeripheralWatch.Params
    on False: stop reporting. True if missing.
    # Permission
    adapters Change adapters: power and the like.
    advertise Advertise.
    agent Answer pairing questions that concern other users.
    capture Record the packets of all programs.
    connect Connect to devices, and use their services.
    pair Pair with devices, and forget pairings.
    scan Hear advertisements.
    serve Publish services of its own.
    sessions See the sessions of others.
    simulation Command simulated devices and their clock.
    # RPCError The `error` member of a JSON-RPC response.
    code The kind of failure, -32768 to -32000: one of JSON-RPC's reserved codes, or -32000 with `data`.
    data The failure in Bluetooth's own terms; present if and only if `code` is -32000.
    internalError An internal error of the daemon (JSON-RPC 2.0, 5.1).
    invalidParams The params are not valid for the method.
    invalidRequest The JSON is not a JSON-RPC 2.0 message.
    message The error and its remedy, in words.
    methodNotFound The method does not exist.
    parseError The line is not valid JSON.
    # RPCError.Details The failure in Bluetooth's own terms.
    code The code within that domain, 0 to 255; docs/protocol.md lists them.
    domain The domain that defines the code: att, hci, gap or bled.
    name The name of the code.
    # RestoredState The state of a session when its program went away. The events since then follow the answer that
     carries this; both together give the present state.
    advertisements The advertisements.
    droppedReports How many reports were dropped because the queue was full; others were replaced by newer ones of the
     same device.
    droppedValues How many values were dropped because the queue was full: the subscriptions they belonged to ended, and
     the events say which. Writes without response from devices are counted here, too.
    peripherals The devices that were connected or had a pending connection.
    scan The parameters of the scan.
    services The services that the session published.
    since Since when the program was gone, in seconds since the epoch.
    # RestoredState.Advertisement An advertisement of the session.
    adapter The adapter that sends it.
    advertising The number that names it in this session, 1 or more.
    ends When its `duration` or its `count` is over, in seconds since the epoch, if it has one and was on the air.
    onAir Whether it was on the air: sent by its adapter, or taking turns with others.
    parameters As it was given to advertising.start.
    # RestoredState.Peripheral A device that was connected or had a pending connection.
    adapter The adapter that holds the link or looks for the device.
    address Its address.
    addressType "public" or "random".
    indications The subscriptions among them that bring indications; missing if there are none.
    mtu The ATT MTU, 23 to 517 octets, while connected.
    name Its name, where known.
    parameters The parameters that the session requests for the link; missing if none.
    peripheral The daemon's identifier of the device.
    reconnect Whether the daemon connects again when the link is lost; missing: no.
    services The attributes that the session discovered.
    state "connected", or "connecting": peripheral.connected or peripheral.connectFailed comes.
    subscriptions The handles of the characteristics that the session subscribes to.
    # RestoredState.Service A service that the session published.
    definition As it was given to service.add.
    service The service with its handles, which are the same as before.
    subscribers The subscribers of its characteristics.
    # ScanAnonymousReport.Params
    adapter The adapter that heard it.
    data The advertising data as received.
    decoded The meaning of the data in formats of beacons and sensors, for scans with `decode`; missing if no format
     fits.
    directed True if the advertisement is meant for one device.
    manufacturerData Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    name Its name, complete or shortened.
    primaryPHY The PHY on which the advertisement begins: "1M" or "coded".
    rssi Signal strength in dBm, -127 to 20, where known.
    secondaryPHY The PHY on which it goes on: "1M", "2M" or "coded".
    serviceData Service data: an object whose members are named by the UUIDs of services, as `{"180F": "64"}`.
    services The services it lists.
    sid The number of the advertising set, 0 to 15.
    time When it was heard, in seconds since the epoch.
    truncated True if the controller lost the end of the data.
    txPower The transmit power, in dBm, -127 to 127, as its data says or else its header.
    # ScanLost.Params
    lastHeard When it was heard last, in seconds since the epoch.
    peripheral The daemon's identifier of the device.
    # ScanReport.Params
    adapter The adapter that heard it.
    address The address it used.
    addressType "public" or "random".
    appearance The appearance of the device, 0 to 65535 (Assigned Numbers, 2.6); 833 is a heart rate belt.
    connectable Whether it accepts connections.
    data The advertising data as received.
    decoded The meaning of the data in formats of beacons and sensors, for scans with `decode`; missing if no format
     fits.
    directed True if the advertisement is meant for one device.
    manufacturerData Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    name Its name, complete or shortened.
    periodicInterval The time between two packets of the periodic train that this set announces, in seconds; see
     periodic.sync.
    peripheral The daemon's stable identifier of the device, a UUID.
    primaryPHY The PHY on which the advertisement begins: "1M" or "coded".
    rssi Signal strength in dBm, -127 to 20, where known.
    scanResponse The scan response data as received, once one was received that is not empty.
    secondaryPHY The PHY on which an extended advertisement goes on: "1M", "2M" or "coded".
    serviceData Service data: an object whose members are named by the UUIDs of services, as `{"180F": "64"}`.
    services The services it lists.
    sid The number of the advertising set, 0 to 15, of an extended advertisement.
    solicitedServices The services it solicits.
    time When it was heard, in seconds since the epoch.
    truncated True if the controller lost the end of the advertising data.
    txPower The transmit power, in dBm, -127 to 127, as its data says or else the header of an extended advertisement.
    # ScanStart.Filter Conditions on an advertisement. All members that are present must match; at least one must be
     present.
    addressKinds The device's address is of one of these kinds: public, static random (the same at least until the
     device restarts), resolvable private (which those who have the device's key can resolve), non-resolvable private.
    connectable True: the device accepts connections.
    ignoreCase True: upper and lower case of the name are the same. Requires `name`.
    manufacturer The advertisement has manufacturer-specific data like this.
    name The device's name begins with this text.
    pattern The advertisement has an AD structure like this.
    serviceData The advertisement has service data like this.
    services The advertisement lists one of these services.
    wholeName True: the name is this text and no more. Requires `name`.
    # ScanStart.Key The key with which a device encrypts what it advertises.
    address The address of the device.
    key Its key, 16 octets: the bind key of BTHome or MiBeacon.
    # ScanStart.Manufacturer Manufacturer-specific data to look for.
    company The company identifier, 0 to 65535 (Assigned Numbers, 7.1).
    data How the data after the company identifier begins; anything if missing.
    mask The bits of `data` that count, as many octets; all of them if missing.
    # ScanStart.Params The parameters of scan.start: the devices to scan for, and how to scan.
    active False: passive scanning, without scan requests unless another session's scan asks. True if missing.
    adapter The adapter to scan on; all of them if missing.
    address Only the device of this address.
    anonymous True: anonymous advertisements, too, as scan.anonymousReport.
    decode True: what the data says in formats of beacons and sensors that are understood, as `decoded` of the reports.
    duplicates True: a report for every advertising event. False or missing: one report for each device, and another
     whenever its data changes.
    filters Only what matches at least one of these, besides all of the above.
    keys Together with `decode`: the keys of devices that encrypt what they advertise, 64 at the most. They are kept as
     long as the scan, and shown to nobody else.
    lost In seconds, 0.5 to 3600: a device from which nothing that passes the filters came for so long is told as
     scan.lost. Not at all if missing.
    name Only devices whose name begins with this text.
    phys The PHYs to listen on, "1M", "coded" or both, which then share the time; "1M" if missing.
    rssi Only reports at least this strong, in dBm.
    rssiOut In dBm, at most `rssi`: a device that was as strong as `rssi` is reported until it is weaker than this.
    services Only devices that advertise one of these services.
    solicitedServices Only devices that solicit one of these services; together with `services`: devices that match
     either list.
    # ScanStart.Pattern Octets in an AD structure to look for.
    data The octets there.
    offset Where in the data of the structure, behind its type, in octets, 0 to 254; 0 if missing.
    type The AD type, 0 to 255 (Assigned Numbers, 2.3).
    # ScanStart.ServiceData Service data to look for.
    data How the data after the UUID begins; anything if missing.
    mask The bits of `data` that count, as many octets; all of them if missing.
    uuid The service.
    # ServerAcquire.Params
    central The daemon's identifier of the device, as in `server.subscribed` and `server.write`.
    handle The handle of the characteristic's value.
    # ServerAcquire.Result
    maximumLength The longest value that can be sent, in octets: MTU − 3, and 512 at most.
    receives Whether there are packets to read: the characteristic can be written.
    sends Whether packets can be written: the device has subscribed.
    # ServerNotify.Params
    centrals Only these subscribers: the daemon's identifiers of devices, as in server.subscribed; all if missing.
    handle The handle of the characteristic's value.
    value The value, up to 512 octets.
    # ServerNotify.Result
    outOfSync The identifiers of the subscribers that it was not sent to because they must discover the changed services
     first; missing if there are none.
    receivers The number of subscribers it was sent to.
    sent False: there was no room and nothing was sent; try again after `server.ready`. True if there are no
     subscribers.
    truncated The identifiers of the subscribers that received only the beginning, as the value is longer than their
     `maximumLength`; missing if there are none.
    # ServerNotifyMultiple.Params
    centrals Only these subscribers: the daemon's identifiers of devices, as in server.subscribed; all if missing.
    values 1 to 8 values, each of another characteristic.
    # ServerNotifyMultiple.Value A value.
    handle The handle of the characteristic's value.
    value The value, up to 512 octets.
    # ServerRead.Params
    central The daemon's identifier of the device that reads.
    handle The handle of the characteristic's value.
    offset Where to begin, 0 to 512.
    # ServerRead.Result
    value The value from the offset on.
    # ServerReleased.Params
    central The daemon's identifier of the device.
    handle The handle of the characteristic's value.
    reason Why.
    unsent How many packets that the program had written were not sent.
    # ServerSetLatency.Params
    central The daemon's identifier of the device, as in `server.subscribed`.
    latency The requested latency: low is 15 to 30 ms between two connection events, medium 90 to 120 ms, high 480 to
     510 ms.
    # ServerWrite.Params
    central The daemon's identifier of the device that writes.
    writes The values, in order.
    # ServerWrite.Write One written value.
    handle The handle of the characteristic's value.
    offset Where it begins, 0 to 512.
    value The value written.
    # ServerWritesLost.Params
    central The daemon's identifier of the device.
    packets The number of packets, 1 or more.
    # ServiceAdd.Params
    service The service.
    # ServiceAdd.Result
    service The service with its handles; the handle of the declaration identifies it from now on.
    # ServiceDescription A service on a device, or one that this session published.
    characteristics Its characteristics, if they were requested.
    end The last handle that belongs to it.
    handle Its declaration's handle.
    includes The services it includes, if they were requested.
    primary False for a secondary service.
    uuid The UUID of the service.
    # ServiceRemove.Params
    handle The handle of the service's declaration.
    # ServiceToPublish A service to publish.
    adapter The only adapter whose devices see it, by name or address; all of them if missing.
    characteristics Its characteristics.
    includes The handles of the included services, which this session must have published before.
    primary False for a secondary service; true if missing.
    uuid The UUID of the service.
    # ServiceToPublish.Characteristic A characteristic to publish.
    descriptors Descriptors with fixed values; the daemon adds 2900 and 2902.
    minimumKeySize The shortest key in octets, 7 to 16, where the link must be encrypted; 7 if missing.
    permissions "readable", "writeable", and what the link must have to read ("readEncryptionRequired", or
     "readAuthenticationRequired": paired with protection against a person in the middle, or
     "readSecureConnectionsRequired": the same with LE Secure Connections), to write ("writeEncryptionRequired",
     "writeAuthenticationRequired", "writeSecureConnectionsRequired") and to subscribe ("subscribeEncryptionRequired",
     "subscribeAuthenticationRequired", "subscribeSecureConnectionsRequired"); if missing: those that the properties
     imply.
    properties The operations that it offers to devices: "broadcast", "read", "writeWithoutResponse", "write", "notify",
     "indicate", "signedWrite", and "extendedProperties", which offers reliable writes.
    uuid The UUID of the characteristic.
    value A fixed value, which the daemon answers; without one every read and write is passed to this session.
    # ServiceToPublish.Descriptor A descriptor to publish.
    permissions The permission to read it: "readable", "readEncryptionRequired", "readAuthenticationRequired" or
     "readSecureConnectionsRequired"; any device can read it if missing.
    uuid The UUID of the descriptor.
    value Its fixed value.
    # SessionDescription A session: its program, what it holds and what it costs.
    acquired The characteristics of devices whose values go over a socket of their own; missing if none.
    advertisements Its advertisements.
    channels Its L2CAP channels; missing if it has none.
    connecting The devices to which it has a pending connection.
    connections The devices that it is connected to.
    costs The cost of the session.
    listening The numbers under which it takes L2CAP channels; missing if none.
    mine Whether it is the caller's own.
    name The name that the program gave in session.open; missing if it gave none.
    permissions The permissions of the session: "scan", "connect", "serve", "advertise", "pair", "agent", "adapters",
     "sessions", "capture", "simulation".
    preserved True if its program has gone and the session is preserved for it.
    process The number of the process that connected, 1 or more, if the kernel reported it.
    program The name of the program's executable, at most 15 octets.
    restore Its restoration identifier; missing if it has none.
    scan The parameters of its scan; missing if it does not scan.
    searching The devices that it searches for in order to connect; missing if there are none.
    services The services that it publishes.
    session The number of the session, 1 or more.
    since When it was opened, in seconds since the epoch.
    subscriptions The characteristics that it is subscribed to.
    user The number of the user, 0 or more, likewise.
    # SessionDescription.Advertisement An advertisement of the session.
    adapter The adapter that sends it.
    advertising The number that names it in the session, 1 or more.
    onAir Whether it is on the air: sent by its adapter, or taking turns with others.
    # SessionDescription.Channel An L2CAP channel of the session.
    channel Its number in the session, 1 or more.
    hasRoom False while what the program wrote waits: the device gives no credits, as it does not read.
    mode How it was set up: "leCreditBased" or "enhanced".
    peripheral The daemon's identifier of the device.
    psm The number of the listener.
    receiveMPS The longest piece that the device cuts its packets into (MPS), in octets, 23 to 65533; absent if not
     known.
    receiveMTU The longest packet that the device may send, 23 to 65535 octets.
    sendMPS The longest piece that packets to the device are cut into (MPS), in octets, 23 to 65533; absent if not
     known.
    sendMTU The longest packet that the device takes, 23 to 65535 octets.
    # SessionDescription.Costs The cost of the session since it was opened.
    linkTime For how many seconds it was connected, summed over all devices.
    linksSlowed How many times a link was slowed down because this session, its only reader, fell behind.
    packetsLost How many packets the kernel dropped on links on which it subscribes or serves; they may have contained
     values.
    queueOctets How many octets are queued until it reads them.
    reports How many reports it was sent.
    reportsCoalesced How many reports were replaced by a newer one of the same device before they were read.
    reportsDropped How many reports were dropped because its queue was full.
    requests How many calls it made.
    requestsFailed How many of them failed, whether or not they had an id.
    scanTime For how many seconds it had a scan.
    values How many values of subscriptions it was sent.
    valuesRefused How many values were dropped because its queue was full: each ended a subscription, or began a loss of
     values written by a device.
    # SessionDescription.Device A device.
    address Its address.
    name Its name, where known.
    peripheral The daemon's identifier of it.
    # SessionDescription.Listening A number under which the session takes L2CAP channels.
    adapter The adapter.
    psm The number.
    # SessionDescription.Search The criteria of a search; a device must meet all that are present.
    name Its name.
    namePrefix The beginning of its name.
    service A service that it advertises.
    # SessionDescription.Service A service that the session publishes.
    handle The handle of its declaration.
    uuid Its UUID.
    # SessionEnd.Params
    restore The restoration identifier of a session whose program is gone; this session if missing.
    # SessionList.Params
    after Lists the sessions behind the one of this number, 1 or more; from the first on if missing.
    # SessionList.Result
    more True if there are more: call again with the number of the last one as `after`. Missing otherwise.
    sessions In the order in which they were opened.
    # SessionOpen.Params
    background True: the program works in the background, see docs/protocol.md. If missing: unchanged, initially false.
    keep For how many seconds the session is preserved without its program, 0 or more; the daemon's limit if missing or
     longer than that.
    name A human-readable name, which `session.list` and the log show.
    restore The restoration identifier, 1 to 128 octets, which is separate for each user. Only in the first call of a
     connection.
    # SessionOpen.Result
    adapters The adapters, as `adapter.list` returns them.
    daemon The daemon's name and version: "bled 0.1.0".
    permissions The permissions of this session: "scan", "connect", "serve", "advertise", "pair", "agent", "adapters",
     "sessions", "capture", "simulation".
    protocol The version of this protocol, 1 or more; it is incremented by incompatible changes.
    restored The state preserved under the restoration identifier; missing if there is none.
    session The number of this session, 1 or more.
    # SimulationAdapter.Params
    adapter The adapter; the first simulated one if missing.
    state "on", "off", "absent" or "failed".
    # SimulationAdd.Params
    scenario A scenario, as JSON5 in a text; its devices and phones count.
    # SimulationAdvance.Params
    seconds By how many seconds, 0 to 86400.
    # SimulationAdvance.Result
    time The time on the clock, in seconds since the epoch.
    # SimulationChange.Params
    device The name of the device in the scenario.
    members Members of a device in a scenario, as JSON5 in a text.
    # SimulationComeBack.Params
    device The name of the device in the scenario.
    # SimulationDevice A device on the simulated air.
    address Its address.
    addressType "public" or "random".
    connected Whether it has a link.
    name Its name in the scenario.
    present Whether it is on the air.
    # SimulationDevices.Result
    devices The devices, the first one first.
    # SimulationDisconnect.Params
    device The name of the device in the scenario.
    reason The HCI error code that this machine is told, 1 to 255; 19 (remote user terminated connection) if missing.
    # SimulationSetValue.Params
    characteristic The UUID of the characteristic; the first one with it counts.
    device The name of the device in the scenario.
    value The value, 0 to 512 octets.
    # SimulationVanish.Params
    device The name of the device in the scenario.
    # SimulationVisit.Params
    phone A phone of a scenario, as JSON5 in a text. The phone visits once, whatever its member returnAfter says.
    # SimulationVisit.Result
    complete Whether the link lasted to the end of the script.
    steps The first 1,000 steps of the visit, in order.
    # SimulationVisitStep Something that happened on the visit of a simulated phone.
    action "discover" for each characteristic that the phone found; a step of its script: "read", "write", "subscribe",
     "unsubscribe", "pair" or "openChannel"; or "value" for one that it was sent.
    characteristic The UUID of the characteristic; missing if it is about none.
    error Why it failed, if it did.
    time When, in seconds since the epoch.
    value The value that was read or sent.
    # SimulationWrite A write to a simulated device.
    characteristic The UUID of the characteristic.
    device The name of the device in the scenario.
    number Its number, 1 or more; each write has the next one.
    operation "write", "writeWithoutResponse", or "subscribe" for a write to the Client Characteristic Configuration.
    time When, in seconds since the epoch.
    value The octets.
    # SimulationWritten.Params
    after Only those with a higher number, 0 or more; all if missing.
    device The name of the device in the scenario; all if missing.
    # SimulationWritten.Result
    writes The writes.
    # Subscriber A device that subscribed or unsubscribed.
    central The daemon's identifier of the device.
    handle The handle of the characteristic's value.
    maximumLength How many octets of a value fit into one notification: MTU − 3, and 512 at most.
    """#
}
