using System.Collections.Concurrent;
using System.Text.Json;
using System.Threading.Channels;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.Farm;

/// <summary>Dispatches commands to their subscribers in order of arrival, decoupled from the receiver: one command may take minutes.
/// Thread-safe.</summary>
internal sealed partial class FarmCommands : IAsyncDisposable
{
    private const int MaxWaiting = 1_000;

    private readonly ConcurrentDictionary<Guid, Entry> _handlers = new();
    private readonly Channel<Received> _waiting = Channel.CreateBounded<Received>(MaxWaiting); // full: the newest is dropped, and said
    private readonly CancellationTokenSource _stopping = new();
    private readonly ILogger _logger;
    private readonly Task _running;

    public FarmCommands(ILogger logger)
    {
        _logger = logger;
        _running = RunAsync(_stopping.Token);
    }

    /// <summary>Returns the name of a command type in messages between hosts.</summary>
    public static string KindOf<TCommand>() => typeof(TCommand).Name;

    public static string Write<TCommand>(TCommand command) => JsonSerializer.Serialize(command);

    public IDisposable Subscribe<TCommand>(FarmCommandHandler<TCommand> handler)
        where TCommand : class => Subscribe(KindOf<TCommand>(), handler);

    public IDisposable Subscribe<TCommand>(string kind, FarmCommandHandler<TCommand> handler)
        where TCommand : class
    {
        var id = Guid.NewGuid();
        _handlers[id] = new Entry(
            kind,
            (from, body, token) =>
                JsonSerializer.Deserialize<TCommand>(body) is { } command ? handler(from, command, token) : Task.CompletedTask
        );
        return new Subscribed(() => _handlers.TryRemove(id, out _));
    }

    public void Add(Guid from, string kind, string body)
    {
        if (!_waiting.Writer.TryWrite(new Received(from, kind, body)) && !_stopping.IsCancellationRequested)
            LogDropped(kind, from, MaxWaiting);
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        try
        {
            await foreach (var command in _waiting.Reader.ReadAllAsync(stopping))
            {
                foreach (var entry in _handlers.Values.Where(entry => entry.Kind == command.Kind))
                    await HandleAsync(entry, command, stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Disposed.
        }
    }

    private async Task HandleAsync(Entry entry, Received command, CancellationToken stopping)
    {
        try
        {
            await entry.Handle(command.From, command.Body, stopping);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogFailed(command.Kind, command.From, ex);
        }
    }

    [LoggerMessage(EventId = 1530, Level = LogLevel.Error, Message = "The command {Kind} of host {Host} failed here")]
    private partial void LogFailed(string kind, Guid host, Exception exception);

    [LoggerMessage(
        EventId = 1539,
        Level = LogLevel.Error,
        Message = "The command {Kind} of host {Host} was dropped: {Waiting} wait before it"
    )]
    private partial void LogDropped(string kind, Guid host, int waiting);

    private sealed record Entry(string Kind, Func<Guid, string, CancellationToken, Task> Handle);

    private sealed record Received(Guid From, string Kind, string Body);

    private sealed class Subscribed(Action end) : IDisposable
    {
        public void Dispose() => end();
    }
}
