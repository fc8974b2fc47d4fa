using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A variable of the workflow's instance; of a kept message its body.</summary>
internal sealed class VariableValue(string name) : IMessageValue
{
    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) =>
        Find(context, name) switch
        {
            EsbMessage message => message.Body.ReadText(),
            IReadOnlyList<EsbMessage> messages => MessageLists.ToJson(messages),
            var value => value,
        };

    public static object? Find(MessageContext context, string name) =>
        context.Variables is { } variables
            ? variables.Find(name)
            : throw new EsbException("ESB-WFL-VARIABLE", $"The variable '{name}' is read outside a workflow.", FaultKind.Internal);
}

/// <summary>A value of a message that a variable holds; none if the variable is not set.</summary>
internal sealed class VariableMessageValue(IMessageValue inner, string variable) : IMessageValue
{
    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) =>
        VariableValue.Find(context, variable) switch
        {
            null => null,
            EsbMessage message => inner.Evaluate(context.Showing(message)),
            IReadOnlyList<EsbMessage> messages => inner.Evaluate(
                context.Showing(
                    context.Message with
                    {
                        Body = MessageBody.FromText(MessageLists.ToJson(messages)),
                        ContentType = "application/json",
                    }
                )
            ),
            _ => throw new EsbException("ESB-WFL-VARIABLE", $"The variable '{variable}' holds a value, not a message.", FaultKind.Invalid),
        };
}
