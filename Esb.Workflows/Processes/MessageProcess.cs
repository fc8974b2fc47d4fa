using Esb.Core.Processes;
using Esb.Workflows.Processes.Endings;

namespace Esb.Workflows.Processes;

/// <summary>A list of stateless steps that is bound to the running bus.</summary>
/// <param name="model">The compiled process.</param>
/// <param name="steps">Its steps.</param>
/// <param name="endings">Runs the outermost process with what waits for its end; null if nothing does.</param>
internal sealed class MessageProcess(ProcessModel model, MessageStep steps, ProcessEndings? endings) : IMessageProcess
{
    public string Name { get; } = model.Name;

    public bool NeedsTopics => model.NeedsTopics;

    public bool Accepts => model.Accepts;

    public ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        context.Process = Name;
        return endings is null || context.End is not null
            ? steps(context, cancellationToken)
            : endings.RunAsync(steps, context, cancellationToken);
    }
}
