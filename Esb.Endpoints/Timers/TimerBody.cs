using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Endpoints.Timers;

/// <summary>The body of the messages of a timer. Immutable and thread-safe.</summary>
/// <param name="value">The value; null for an empty body.</param>
/// <param name="constant">The value if it is a constant, whose kind decides the content type.</param>
internal sealed class TimerBody(IMessageValue? value, ConfigNode? constant)
{
    private const string Text = "text/plain; charset=utf-8";
    private const string Json = "application/json";

    /// <summary>Returns the message with its body and content type.</summary>
    public EsbMessage AddTo(EsbMessage message, string endpoint)
    {
        if (value?.Evaluate(new MessageContext(message, endpoint)) is not { } evaluated)
            return message;
        var isJson = constant is null ? evaluated is bool or double : constant.Kind != ConfigKind.Text;
        return message with
        {
            Body = MessageBody.FromBytes(Encoding.UTF8.GetBytes(MessageValues.AsText(evaluated)!)),
            ContentType = isJson ? Json : Text,
        };
    }
}
