using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes;

/// <summary>A compiled list of stateless steps.</summary>
internal sealed class MessageProcess(string name, CompiledStep steps, IReadOnlyCollection<Subject> subjects) : IMessageProcess
{
    public string Name => name;

    public string Description => steps.Description;

    public IReadOnlyCollection<Subject> Subjects => subjects;

    public ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        context.Process = name;
        return steps.Run(context, cancellationToken);
    }
}
