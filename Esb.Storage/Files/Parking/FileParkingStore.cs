using Esb.Core.Storage;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.Parking;

/// <summary>Parked messages in segments, for one process. What is in memory is a small entry for each; the bodies stay on disk.</summary>
internal sealed class FileParkingStore(string folder, Lazy<SegmentLog>? log, TimeProvider time, ILogger logger) : IParkingStore, IDisposable
{
    private static readonly TimeSpan ReleaseLease = TimeSpan.FromSeconds(30);

    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly ParkingLog _log = new(folder, log, logger);
    private readonly Dictionary<(string Endpoint, int Lane), long> _owners = [];
    private long _token;

    public Task<LaneOwner> TakeLaneAsync(string endpoint, int lane, CancellationToken cancellationToken) => AloneAsync(
        book =>
        {
            _owners[(endpoint, lane)] = ++_token;
            return Task.FromResult(new LaneOwner(endpoint, lane, _token, [.. book.Lines.Where(line => line.Endpoint == endpoint).Select(line => line.Key)]));
        },
        cancellationToken);

    public Task VerifyAsync(LaneOwner owner, CancellationToken cancellationToken) => AsOwnerAsync(owner, _ => Task.FromResult(true), cancellationToken);

    public Task ParkAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) =>
        AsOwnerAsync(owner, book => AddAsync(book, owner.Endpoint, message), cancellationToken);

    public Task<bool> TryJoinAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) => AsOwnerAsync(
        owner,
        book => book.Find(owner.Endpoint, LineKey.Of(message.Message)) is null ? Task.FromResult(false) : AddAsync(book, owner.Endpoint, message),
        cancellationToken);

    public Task<ParkedMessage?> FirstAsync(LaneOwner owner, string key, CancellationToken cancellationToken) => AsOwnerAsync(
        owner,
        book => Task.FromResult(book.Find(owner.Endpoint, key) is { Entries.First: { } first } line ? _log.ReadAt(line, first.Value) : null),
        cancellationToken);

    public Task<bool> RemoveAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) => AsOwnerAsync(
        owner,
        async book =>
        {
            var key = LineKey.Of(message.Message);
            if (book.Find(owner.Endpoint, key) is not { } line) return true;
            line.LeasedUntil = time.GetUtcNow() + ReleaseLease; // whoever delivered it goes on with the next
            await RemoveAsync(line, [message.Message.Id]);
            return book.Find(owner.Endpoint, key) is null;
        },
        cancellationToken);

    public Task RescheduleAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) => AsOwnerAsync(
        owner,
        async book =>
        {
            if (book.Find(owner.Endpoint, LineKey.Of(message.Message)) is not { } line) return false;
            await WriteAsync(ParkingEventKind.Rescheduled, line, message.Message.Id, happened =>
                happened with { DueAt = message.DueAt, Attempt = message.Message.Attempt, Failures = message.Failures });
            line.LeasedUntil = default;
            return true;
        },
        cancellationToken);

    public Task<IReadOnlyList<string>> TakeDueAsync(string endpoint, CancellationToken cancellationToken) => AloneAsync<IReadOnlyList<string>>(
        book =>
        {
            var now = time.GetUtcNow();
            var due = book.Lines.Where(line => line.Endpoint == endpoint && line.DueAt <= now && line.LeasedUntil <= now).ToList();
            foreach (var line in due) line.LeasedUntil = now + ReleaseLease;
            return Task.FromResult<IReadOnlyList<string>>([.. due.Select(line => line.Key)]);
        },
        cancellationToken);

    public Task<IReadOnlyList<ParkedKey>> ListAsync(string? endpoint, int limit, CancellationToken cancellationToken) => AloneAsync<IReadOnlyList<ParkedKey>>(
        book => Task.FromResult<IReadOnlyList<ParkedKey>>(
            [.. book.Lines.Where(line => endpoint is null || line.Endpoint == endpoint).OrderBy(line => line.Since).Take(Math.Clamp(limit, 1, 1000)).Select(line => line.Describe())]),
        cancellationToken);

    public Task<IReadOnlyList<ParkedMessage>> MessagesAsync(string endpoint, string key, int limit, CancellationToken cancellationToken) => AloneAsync<IReadOnlyList<ParkedMessage>>(
        book => Task.FromResult(book.Find(endpoint, key) is { } line ? Messages(line, line.Entries.Take(Math.Clamp(limit, 1, 1000))) : []),
        cancellationToken);

    public Task<bool> ReleaseAsync(string endpoint, string key, CancellationToken cancellationToken) => AloneAsync(
        async book =>
        {
            if (book.Find(endpoint, key) is not { } line) return false;
            await WriteAsync(ParkingEventKind.Released, line, default, happened => happened with { DueAt = happened.At });
            line.LeasedUntil = default;
            return true;
        },
        cancellationToken);

    public Task<IReadOnlyList<ParkedSummary>> SummariesAsync(string endpoint, string key, Guid? messageId, int limit, CancellationToken cancellationToken) => AloneAsync<IReadOnlyList<ParkedSummary>>(
        book =>
        {
            if (book.Find(endpoint, key) is not { } line) return Task.FromResult<IReadOnlyList<ParkedSummary>>([]);
            var entries = messageId is not { } id ? line.FromTheEnd().Take(limit) : line.Find(id) is { } one ? [one] : [];
            return Task.FromResult<IReadOnlyList<ParkedSummary>>([.. entries.Select(entry => Summarize(line, entry))]);
        },
        cancellationToken);

    public Task<long> DiscardAsync(string endpoint, string key, IReadOnlyCollection<Guid> messageIds, CancellationToken cancellationToken) => AloneAsync(
        async book =>
        {
            if (book.Find(endpoint, key) is not { } line) return 0;
            var waiting = messageIds.Where(id => line.Find(id) is not null).ToList();
            await RemoveAsync(line, waiting);
            return (long)waiting.Count;
        },
        cancellationToken);

    public void Dispose() => _gate.Dispose();

    private Task<T> AsOwnerAsync<T>(LaneOwner owner, Func<ParkingBook, Task<T>> work, CancellationToken cancellationToken) => AloneAsync(
        book => _owners.GetValueOrDefault((owner.Endpoint, owner.Lane)) == owner.Token ? work(book) : throw LaneErrors.Lost(owner.Endpoint, owner.Lane),
        cancellationToken);

    private async Task<T> AloneAsync<T>(Func<ParkingBook, Task<T>> work, CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            return await work(_log.Read());
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
        finally
        {
            _gate.Release();
        }
    }

    private async Task<bool> AddAsync(ParkingBook book, string endpoint, ParkedMessage message)
    {
        if (book.Find(endpoint, LineKey.Of(message.Message))?.Find(message.Message.Id) is null)
            await _log.WriteAsync(ParkingEvent.Parked(endpoint, message), message.Message.Body.Bytes);
        return true;
    }

    private async Task RemoveAsync(ParkingLine line, IReadOnlyCollection<Guid> messageIds)
    {
        await _log.WriteAllAsync([.. messageIds.Select(id => Event(ParkingEventKind.Removed, line, id))]);
        await _log.CompactAsync();
    }

    private Task WriteAsync(ParkingEventKind kind, ParkingLine line, Guid messageId, Func<ParkingEvent, ParkingEvent> complete) => _log.WriteAsync(complete(Event(kind, line, messageId)));

    private ParkingEvent Event(ParkingEventKind kind, ParkingLine line, Guid messageId) =>
        new() { Kind = kind, Endpoint = line.Endpoint, Line = line.Key, At = time.GetUtcNow(), Id = messageId };

    // What cannot be read any more can be discarded all the same, and is recorded with what is known of it.
    private ParkedSummary Summarize(ParkingLine line, ParkedEntry entry) => _log.ReadAt(line, entry)?.Message is { } message
        ? new ParkedSummary(message.Id, message.ConversationId, message.Subject, message.Attempt, message.Party)
        : new ParkedSummary(entry.Id, entry.Id, "", entry.Attempt, null);

    private IReadOnlyList<ParkedMessage> Messages(ParkingLine line, IEnumerable<ParkedEntry> entries) =>
        [.. entries.Select(entry => _log.ReadAt(line, entry)).OfType<ParkedMessage>()];
}
