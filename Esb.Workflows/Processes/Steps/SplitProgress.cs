using System.Globalization;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Workflows.Processes.Steps;

/// <summary>How far a split has come with a message, kept in the store so that a repetition goes on there. One run; not
/// thread-safe.</summary>
/// <param name="marks">Keeps the place.</param>
/// <param name="time">The clock.</param>
/// <param name="endpoint">The endpoint that received the message.</param>
/// <param name="interchange">The message and the split.</param>
/// <param name="begun">The definition that a run begins with; null if it is not kept.</param>
/// <param name="earlier">Keeps definitions.</param>
internal sealed class SplitProgress(
    IEndpointMarks marks,
    TimeProvider time,
    string endpoint,
    string interchange,
    StoredDefinition? begun,
    EarlierSplits earlier
)
{
    private const int Window = 256;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Keep = TimeSpan.FromDays(7);

    private readonly string _name = $"split {interchange}";
    private long _keptAt = time.GetTimestamp();
    private int _kept;
    private bool _isKept;

    /// <summary>The items that are done.</summary>
    public int Items => _kept;

    /// <summary>Those of them that failed.</summary>
    public int Failed { get; private set; }

    /// <summary>The hash of the definition with which the message began, if that is another one; null if not.</summary>
    public string? EarlierDefinition { get; private set; }

    /// <summary>Reads how far an earlier run has come.</summary>
    public async Task ReadAsync(CancellationToken cancellationToken)
    {
        if (
            await marks.FindAsync(endpoint, _name, cancellationToken) is not { } text
            || text.Split(' ') is not [var items, var failed, ..] parts
        )
            return;
        _isKept = true;
        (_kept, Failed) = (int.Parse(items, CultureInfo.InvariantCulture), int.Parse(failed, CultureInfo.InvariantCulture));
        EarlierDefinition = parts is [_, _, { Length: > 0 } hash] && hash != begun?.Hash ? hash : null;
    }

    /// <summary>Notes that items are done; keeps the place after each window of them, or after a second.</summary>
    /// <param name="items">The items that are done.</param>
    /// <param name="failed">Those of them that failed.</param>
    /// <param name="context">The message: what it published on a transport that is not durable must have arrived, since a kill loses what
    /// waits there.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    public async ValueTask NoteAsync(int items, int failed, MessageContext context, CancellationToken cancellationToken)
    {
        if (items - _kept < Window && time.GetElapsedTime(_keptAt) < Interval)
            return;
        if (context.HasSettled)
            await KeepAsync(items, failed, cancellationToken);
    }

    /// <summary>Keeps the place behind the last item, once a commit has decided on all of them.</summary>
    public Task KeepAsync(int items, CancellationToken cancellationToken) => KeepAsync(items, failed: 0, cancellationToken);

    private async Task KeepAsync(int items, int failed, CancellationToken cancellationToken)
    {
        if (!_isKept && begun is not null)
            await earlier.KeepAsync(begun, cancellationToken); // before the place that needs it
        var place = string.Create(CultureInfo.InvariantCulture, $"{items} {failed} {begun?.Hash}");
        await marks.KeepAsync(endpoint, _name, place, Keep, cancellationToken);
        (_kept, _keptAt, _isKept) = (items, time.GetTimestamp(), true);
    }

    /// <summary>Forgets the place: the message is done, or will not be repeated.</summary>
    public Task EndAsync(CancellationToken cancellationToken) =>
        _isKept ? marks.RemoveAsync(endpoint, _name, cancellationToken) : Task.CompletedTask;
}
