using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Storage;

namespace Esb.Workflows.Processes.Endings;

/// <summary>Runs a process with what waits for its end: state is read before, and written when the process has succeeded.
/// Thread-safe.</summary>
/// <param name="names">The names of the state that the process reads.</param>
/// <param name="marks">Keeps state.</param>
/// <param name="numbersMessages">True if a step needs the number of the message.</param>
internal sealed class ProcessEndings(IReadOnlyList<string> names, IEndpointMarks marks, bool numbersMessages = false)
{
    /// <summary>Runs the steps, as a part of the process that runs already if there is one.</summary>
    /// <exception cref="EsbException"><c>ESB-STATE-SIZE</c>; or a step or the store failed.</exception>
    public async ValueTask RunAsync(MessageStep steps, MessageContext context, CancellationToken cancellationToken)
    {
        var outer = context.End;
        var end = outer ?? new ProcessEnd();
        foreach (var name in names.Where(name => !end.Knows(name)))
            end.Load(name, StateText.Read(await marks.FindAsync(context.Endpoint, MarkOf(name), cancellationToken)));
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
            foreach (var (name, value) in end.Changed)
                await KeepAsync(context.Endpoint, name, value, CancellationToken.None);
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

    private Task KeepAsync(string endpoint, string name, object? value, CancellationToken cancellationToken) =>
        value is null
            ? marks.RemoveAsync(endpoint, MarkOf(name), cancellationToken)
            : marks.KeepAsync(endpoint, MarkOf(name), StateText.Write(name, value), keep: null, cancellationToken);

    private static string MarkOf(string name) => $"state {name}";
}
