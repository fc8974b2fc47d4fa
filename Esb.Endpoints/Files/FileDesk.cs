using System.Collections.Concurrent;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>Works on claimed files, a number of them at once: hands each over, waits until its message has arrived, puts it away; or lets it wait and tries again.</summary>
internal sealed partial class FileDesk(FileInboundConfig config, FileHandOver handOver, FileArchive archive, TimeProvider time, ILogger<FileDesk> logger) : IAsyncDisposable
{
    private const int MostWaiting = 100; // while the bus takes nothing, the other files stay where everybody sees them

    private static readonly TimeSpan LongestSettling = TimeSpan.FromSeconds(5); // longer takes only what is delivered again later

    private readonly SemaphoreSlim _hands = new(config.MaxConcurrentCalls);
    private readonly ConcurrentDictionary<Guid, Task> _underWay = new();
    private readonly WaitingFiles _waiting = new(time);
    private readonly CancellationTokenSource _abandoned = new();

    /// <summary>Whether so many files wait that no others should be claimed.</summary>
    public bool IsFull => _waiting.Count >= MostWaiting;

    /// <summary>Whether files wait to be tried again.</summary>
    public bool HasWaiting => _waiting.Count > 0;

    /// <summary>Takes out the files to be tried again now.</summary>
    public IReadOnlyList<ClaimedFile> TakeDue() => _waiting.TakeDue();

    /// <summary>Claims a file as soon as a hand is free, and begins to work on it; nothing where it could not be claimed.</summary>
    public async Task TakeAsync(Func<ClaimedFile?> claim, CancellationToken cancellationToken)
    {
        await _hands.WaitAsync(cancellationToken);
        ClaimedFile? file = null;
        try
        {
            file = claim();
        }
        finally
        {
            if (file is null) _hands.Release();
        }

        if (file is not null) Track(file.MessageId, WorkAsync(file));
    }

    /// <summary>Waits until nothing is handed over any more, and a short time for messages to arrive.</summary>
    public async Task CloseAsync(CancellationToken cancellationToken)
    {
        await using var abandon = cancellationToken.Register(_abandoned.Cancel);
        for (var hand = 0; hand < config.MaxConcurrentCalls; hand++) await _hands.WaitAsync(CancellationToken.None);
        try
        {
            await Task.WhenAll(_underWay.Values).WaitAsync(LongestSettling, time, cancellationToken);
        }
        catch (Exception ex) when (ex is TimeoutException or OperationCanceledException)
        {
            LogLeft(config.Name, _underWay.Count);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _abandoned.CancelAsync();
        await Task.WhenAll(_underWay.Values);
        _abandoned.Dispose();
    }

    private void Track(Guid id, Task work)
    {
        if (work.IsCompleted) return;
        _underWay[id] = work;
        _ = work.ContinueWith(done => _underWay.TryRemove(new(id, done)), TaskScheduler.Default);
    }

    private async Task WorkAsync(ClaimedFile file)
    {
        if (await JudgeAsync(file) is not { } judged) return;
        try
        {
            archive.PutAway(judged);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            if (judged.Failures == 0) LogNotMoved(ex, judged.MessageId, config.Name);
            _waiting.Add(judged.Refusal is null ? judged.MarkArrived() : judged);
        }
    }

    /// <summary>Finds out what becomes of a file; null where it stays claimed.</summary>
    private async Task<ClaimedFile?> JudgeAsync(ClaimedFile file)
    {
        try
        {
            var settled = await HandOverAsync(file);
            return await IsSettledAsync(file, settled) ? file : null;
        }
        catch (OperationCanceledException) when (_abandoned.IsCancellationRequested)
        {
            return null; // whoever starts next takes it up, as the same message
        }
        catch (Exception ex) when (ex is FileNotFoundException or DirectoryNotFoundException)
        {
            LogGone(ex, file.MessageId, config.Name);
            return null;
        }
        catch (Exception ex) when (ex is IOException or OperationCanceledException or EsbException { IsTransient: true })
        {
            LetWait(file, ex);
            return null;
        }
        catch (EsbException ex)
        {
            LogRefused(ex, ex.Code, file.MessageId, config.Name);
            return file with { Refusal = new FileRefusal(ex.Code, ex.Message) };
        }
        catch (Exception ex)
        {
            LogFailed(ex, file.MessageId, config.Name);
            return file with { Refusal = new FileRefusal("ESB-INTERNAL", "The file could not be worked on; the log of the host says why.") };
        }
    }

    private async Task<Task> HandOverAsync(ClaimedFile file)
    {
        try
        {
            var isDecided = file.HasArrived || file.Refusal is not null;
            return isDecided ? Task.CompletedTask : await handOver.HandOverAsync(file, _abandoned.Token);
        }
        finally
        {
            _hands.Release();
        }
    }

    private async Task<bool> IsSettledAsync(ClaimedFile file, Task settled)
    {
        try
        {
            await settled.WaitAsync(_abandoned.Token);
            return true;
        }
        catch (Exception ex) when (!_abandoned.IsCancellationRequested)
        {
            LetWait(file, ex); // the transport gave up before every subscriber had it
            return false;
        }
    }

    private void LetWait(ClaimedFile file, Exception cause)
    {
        if (file.Failures == 0) LogWaits(cause, (cause as EsbException)?.Code ?? "ESB-FILE-IO", file.MessageId, config.Name);
        _waiting.Add(file);
    }

    [LoggerMessage(EventId = 2250, Level = LogLevel.Warning, Message = "{Code}: message {MessageId} of {Endpoint} was not taken; its file is tried again")]
    private partial void LogWaits(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(EventId = 2251, Level = LogLevel.Warning, Message = "{Code}: message {MessageId} of {Endpoint} was refused; its file goes to the folder of errors")]
    private partial void LogRefused(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(EventId = 2252, Level = LogLevel.Error, Message = "ESB-INTERNAL: message {MessageId} of {Endpoint} failed; its file goes to the folder of errors")]
    private partial void LogFailed(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(EventId = 2253, Level = LogLevel.Warning, Message = "ESB-FILE-ACCESS: the file of message {MessageId} of {Endpoint} cannot be put away; only that is tried again")]
    private partial void LogNotMoved(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(EventId = 2254, Level = LogLevel.Debug, Message = "The file of message {MessageId} of {Endpoint} has gone")]
    private partial void LogGone(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(EventId = 2255, Level = LogLevel.Information, Message = "{Endpoint} leaves {Count} files claimed, whose messages have not arrived yet")]
    private partial void LogLeft(string endpoint, int count);
}
