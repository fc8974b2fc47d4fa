using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A value that an earlier process of the endpoint kept.</summary>
internal sealed class StateValue(string name) : IMessageValue
{
    public bool ReadsBody => false;

    /// <exception cref="InvalidOperationException">Nothing runs that reads the store beforehand.</exception>
    public object? Evaluate(MessageContext context) =>
        context.End is { } end ? end.Read(name) : throw new InvalidOperationException($"The state '{name}' is read outside of a process.");
}
