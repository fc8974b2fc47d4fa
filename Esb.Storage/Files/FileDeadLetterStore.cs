using System.Runtime.CompilerServices;
using System.Text.Json;
using Esb.Core.Storage;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files;

/// <summary>Dead letters in segments. What is in memory is one small entry for each; the letters stay on disk.</summary>
/// <param name="folder">The folder of the segments.</param>
/// <param name="log">Writes them; null where the store is only read.</param>
/// <param name="logger">Hears of damage.</param>
internal sealed partial class FileDeadLetterStore(string folder, Lazy<SegmentLog>? log, ILogger logger) : IDeadLetterStore, IDisposable
{
    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly SegmentReader _reader = new(folder, log is { } writer ? () => writer.Value.Committed : null, logger);
    private readonly HashSet<(Guid, string)> _known = [];
    private readonly List<SegmentPosition> _letters = [];

    public async Task AddAsync(DeadLetter letter, CancellationToken cancellationToken)
    {
        if (log is null) throw new InvalidOperationException("This store was opened for reading.");

        await _gate.WaitAsync(cancellationToken);
        try
        {
            Refresh();
            if (_known.Contains((letter.Message.Id, letter.Endpoint))) return;
            await log.Value.AppendAsync(StoredDeadLetter.From(letter).Write(letter.Message.Body.Bytes), cancellationToken);
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

    public async IAsyncEnumerable<DeadLetter> ListAsync(int limit, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var position in await NewestAsync(Math.Clamp(limit, 1, 1000), cancellationToken))
        {
            using var file = SegmentHandle.TryOpenForReading(new SegmentFile(folder, position.Segment));
            if (file is null || SegmentScanner.ReadAt(file, position.Offset) is not { } payload) continue;
            var (letter, body) = StoredDeadLetter.Read(payload);
            yield return letter.With(body);
        }
    }

    public void Dispose() => _gate.Dispose();

    private async Task<IReadOnlyList<SegmentPosition>> NewestAsync(int limit, CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            Refresh();
            return [.. _letters.AsEnumerable().Reverse().Take(limit)];
        }
        finally
        {
            _gate.Release();
        }
    }

    private void Refresh()
    {
        foreach (var record in _reader.ReadNew())
        {
            try
            {
                var (letter, _) = StoredDeadLetter.Read(record.Payload);
                if (_known.Add((letter.Id, letter.Endpoint))) _letters.Add(record.Position);
            }
            catch (Exception ex) when (ex is InvalidDataException or JsonException)
            {
                LogUnreadable(ex, record.Position);
            }
        }
    }

    [LoggerMessage(EventId = 4513, Level = LogLevel.Error, Message = "the dead letter at {Position} cannot be read")]
    private partial void LogUnreadable(Exception exception, SegmentPosition position);
}
