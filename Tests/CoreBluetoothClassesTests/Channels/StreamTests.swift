import BluetoothBackend
import BluetoothSupport
import Foundation
import Synchronization
import Testing

@testable import CoreBluetoothClasses

/// The streams of a channel, without a backend.
@Suite struct StreamTests {
    /// Returns bytes that repeat, but with a period that no power of two divides.
    private static func pattern(_ count: Int, salt: UInt8) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) ^ salt })
    }

    @Test func S152_aMegabyteEachWayArrivesIntact() async throws {
        let pair = ChannelPair(window: 2000)
        let near = Unchecked(try #require(pair.channel(pair.near)))
        let far = Unchecked(try #require(pair.channel(pair.far)))
        let toFar = Self.pattern(1 << 20, salt: 0)
        let toNear = Self.pattern(1 << 20, salt: 0x5A)
        for channel in [near.value, far.value] {
            channel.inputStream.open()
            channel.outputStream.open()
        }
        async let wroteNear = write(toFar, by: near)
        async let wroteFar = write(toNear, by: far)
        async let readFar = read(toFar.count, chunk: 700, by: far)
        async let readNear = read(toNear.count, chunk: 4096, by: near)
        let (didWriteNear, didWriteFar) = await (wroteNear, wroteFar)
        let (atFar, atNear) = await (readFar, readNear)
        #expect(didWriteNear)
        #expect(didWriteFar)
        #expect(atFar == toFar)
        #expect(atNear == toNear)
        #expect(pair.overrunCount == 0)
    }

    private func write(_ data: Data, by channel: Unchecked<CBL2CAPChannel>) async -> Bool {
        await onThread {
            var rest = data
            while !rest.isEmpty {
                let count = channel.value.outputStream.write(rest.prefix(3001))
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private func read(_ count: Int, chunk: Int, by channel: Unchecked<CBL2CAPChannel>) async -> Data {
        await onThread {
            var data = Data()
            while data.count < count, let more = channel.value.inputStream.bytes(chunk), !more.isEmpty {
                data += more
            }
            return data
        }
    }

    @Test func S150_S152_aThreadsOwnLoopIsWoken() async throws {
        let pair = ChannelPair(window: 100)
        let near = Unchecked(try #require(pair.channel(pair.near)))
        let far = Unchecked(try #require(pair.channel(pair.far)))
        let sent = Self.pattern(5000, salt: 3)
        let received = Lock(Data())
        let writer = pump(sent)
        let reader = StreamListener { stream, event in
            guard let input = stream as? InputStream else { return }
            if event == .hasBytesAvailable, let data = input.bytes(30) { received.withLock { $0 += data } }
            if event == .endEncountered { input.close() }
        }
        async let writing: Void = onLoopThread { schedule(near.value.outputStream, writer) }
        async let reading: Void = onLoopThread { schedule(far.value.inputStream, reader) }
        await writing
        near.value.inputStream.close()
        await reading
        #expect(received.withLock { $0 } == sent)
        #expect(writer.lines.first == "open")
        #expect(writer.lines.dropFirst().allSatisfy { $0 == "space" })
        #expect(reader.lines.first == "open")
        #expect(reader.lines.last == "end")
        #expect(pair.overrunCount == 0)
    }

    /// Writes all bytes, as space becomes available, and closes the stream.
    private func pump(_ data: Data) -> StreamListener {
        let rest = Lock(data)
        return StreamListener { stream, event in
            guard event == .hasSpaceAvailable, let output = stream as? OutputStream else { return }
            let left = rest.withLock { rest in
                rest = rest.dropFirst(output.write(rest.prefix(70)))
                return rest.count
            }
            if left == 0 { output.close() }
        }
    }

    @Test func S153_bothStreamsReportTheEnd() async throws {
        let pair = ChannelPair(window: 10)
        let near = Unchecked(try #require(pair.channel(pair.near)))
        var far = pair.channel(pair.far)
        far?.outputStream.open()
        far?.outputStream.write(Data([1, 2, 3]))
        far = nil
        let input = StreamListener { stream, event in
            if event == .hasBytesAvailable { _ = (stream as? InputStream)?.bytes(2) }
            if event == .endEncountered { stream.close() }
        }
        let output = StreamListener { stream, event in
            if event == .endEncountered { #expect((stream as? OutputStream)?.write(Data([1])) == -1) }
            if event == .errorOccurred { stream.close() }
        }
        await onLoopThread {
            schedule(near.value.inputStream, input)
            schedule(near.value.outputStream, output)
        }
        #expect(input.lines == ["open", "bytes", "bytes", "end"])
        #expect(output.lines == ["open", "end", "error"])
    }

    @Test func aWriteToAChannelThatIsNoMoreSaysWhy() throws {
        let pair = ChannelPair(window: 10)
        let near = try #require(pair.channel(pair.near))
        near.outputStream.open()
        pair.near[ChannelID(rawValue: 1)]?.handle(.closed)
        #expect(near.outputStream.streamStatus == .atEnd)
        #expect(near.outputStream.streamError == nil)
        #expect(near.outputStream.write(Data([1])) == -1)
        #expect(near.outputStream.streamStatus == .error)
        let error = try #require(near.outputStream.streamError as? NSError)
        #expect(error.domain == NSPOSIXErrorDomain)
        #expect(error.code == Int(POSIXErrorCode.EPIPE.rawValue))
    }

    @Test func aBlockedReadEndsWhenItsStreamIsClosed() async throws {
        let pair = ChannelPair(window: 10)
        let near = Unchecked(try #require(pair.channel(pair.near)))
        near.value.inputStream.open()
        async let result = onThread { near.value.inputStream.bytes(1) }
        near.value.inputStream.close()
        let bytes = await result
        #expect(bytes == nil)
    }

    @Test func aStreamThatWasRemovedFromItsLoopIsSilent() async throws {
        let pair = ChannelPair(window: 10)
        let near = Unchecked(try #require(pair.channel(pair.near)))
        let listener = StreamListener()
        await onLoopThread {
            schedule(near.value.inputStream, listener)
            near.value.inputStream.remove(from: .current, forMode: .default)
        }
        #expect(listener.lines.isEmpty)
        #expect(near.value.inputStream.streamStatus == .open)
    }

    @Test func aDelegateThatComesLateReceivesWhatItMissed() async throws {
        let pair = ChannelPair(window: 10)
        let near = Unchecked(try #require(pair.channel(pair.near)))
        let listener = StreamListener { stream, _ in stream.close() }
        await onLoopThread {
            near.value.inputStream.open()
            near.value.inputStream.schedule(in: .current, forMode: .default)
            near.value.inputStream.delegate = listener
        }
        #expect(listener.lines == ["open"])
    }

    @Test func S151_releaseEndsTheOtherSideAndFreesTheStreams() async throws {
        let pair = ChannelPair(window: 10)
        var near = pair.channel(pair.near)
        let far = try #require(pair.channel(pair.far))
        far.inputStream.open()
        weak let input: InputStream? = near?.inputStream
        weak let output: OutputStream? = near?.outputStream
        let listener = StreamListener()
        input?.delegate = listener
        input?.schedule(in: .main, forMode: .default)
        input?.open()
        near = nil
        // Meanwhile the callback on the main queue retains the stream.
        await MainActor.run {}
        #expect(input == nil)
        #expect(output == nil)
        #expect(far.inputStream.streamStatus == .atEnd)
        #expect(far.inputStream.bytes(1) == Data())
    }
}

/// Schedules and opens a stream as apps do in `didOpen`.
private func schedule(_ stream: Stream?, _ listener: StreamListener) {
    stream?.delegate = listener
    stream?.schedule(in: .current, forMode: .default)
    stream?.open()
}
