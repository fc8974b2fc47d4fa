using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A value that a message must have.</summary>
internal sealed class RequiredValue(IMessageValue value, Func<MessageContext, EsbException> missing) : IMessageValue
{
    public bool ReadsBody => value.ReadsBody;

    public object? Evaluate(MessageContext context) => value.Evaluate(context) ?? throw missing(context);
}

/// <summary>A value that a message must not have more than once.</summary>
internal sealed class SingleValue(IMessageValue value, IMessageValue count, Func<MessageContext, double, EsbException> several)
    : IMessageValue
{
    public bool ReadsBody => true;

    public object? Evaluate(MessageContext context) =>
        count.Evaluate(context) is double and > 1 and var matches ? throw several(context, matches) : value.Evaluate(context);
}
