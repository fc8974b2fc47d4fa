using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Storage;

namespace Esb.Workflows.Processes.Endings;

/// <summary>Runs a process with what waits for its end: state is read before, and written when the process has succeeded.
/// Thread-safe.</summary>
/// <param name="names">The names of the state that the process reads.</param>
/// <param name="marks">Keeps state.</param>
/// <param name="arriving">Writes state once what the message published has arrived.</param>
/// <param name="numbersMessages">True if a step needs the number of the message.</param>
internal sealed class ProcessEndings(
    IReadOnlyList<string> names,
    IEndpointMarks marks,
    ArrivingState arriving,
    bool numbersMessages = false
)
{
    /// <summary>Runs the steps, as a part of the process that runs already if there is one.</summary>
    /// <exception cref="EsbException"><c>ESB-STATE-SIZE</c>; or a step or the store failed.</exception>
    public async ValueTask RunAsync(MessageStep steps, MessageContext context, CancellationToken cancellationToken)
    {
        var outer = context.End;
        var end = outer ?? new ProcessEnd();
        foreach (var name in names.Where(name => !end.Knows(name)))
            end.Load(name, StateText.Read(await FindAsync(context.Endpoint, MarkOf(name), cancellationToken)));
        if (numbersMessages)
            context.Sequence ??= await marks.NumberAsync(context.Endpoint, context.NumberedId, cancellationToken);
        if (outer is not null)
        {
            await steps(context, cancellationToken); // its end is that of the outer process
            return;
        }

        context.End = end;
        try
        {
            await steps(context, cancellationToken);
            // What the steps did has taken effect, also where the caller hangs up now.
            await KeepAsync(context, end);
            await end.SucceedAsync(CancellationToken.None);
        }
        catch
        {
            await end.FailAsync();
            throw;
        }
        finally
        {
            context.End = null;
        }
    }

    // The value of a message that has ended but not arrived: it is the later one.
    private async ValueTask<string?> FindAsync(string endpoint, string mark, CancellationToken cancellationToken) =>
        arriving.TryFind(endpoint, mark, out var text) ? text : await marks.FindAsync(endpoint, mark, cancellationToken);

    private async ValueTask KeepAsync(MessageContext context, ProcessEnd end)
    {
        if (!end.HasChanged)
            return;
        var arrived = context.HasSettled ? Task.CompletedTask : context.Settled;
        List<(string Name, string? Text)> changed = [.. end.Changed.Select(each => (MarkOf(each.Key), TextOf(each.Key, each.Value)))];
        foreach (var (name, text) in changed)
        {
            if (arriving.Add(context.Endpoint, name, text, arrived, () => WriteAsync(context.Endpoint, name, text)) is { } written)
                context.AwaitSettled(written);
            else
                await WriteAsync(context.Endpoint, name, text);
        }
    }

    private Task WriteAsync(string endpoint, string mark, string? text) =>
        text is null
            ? marks.RemoveAsync(endpoint, mark, CancellationToken.None)
            : marks.KeepAsync(endpoint, mark, text, keep: null, CancellationToken.None);

    private static string? TextOf(string name, object? value) => value is null ? null : StateText.Write(name, value);

    private static string MarkOf(string name) => $"state {name}";
}
