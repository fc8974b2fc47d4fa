using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A constant; null stands for no value.</summary>
internal sealed class ConstantValue(object? constant) : IMessageValue
{
    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) => constant;
}

/// <summary>A header of the message.</summary>
internal sealed class HeaderValue(string name) : IMessageValue
{
    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) => context.Message.Headers[name];
}

/// <summary>A property that an earlier step set.</summary>
internal sealed class PropertyValue(string name) : IMessageValue
{
    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) =>
        context.GetProperty(name) switch
        {
            int number => (double)number,
            long number => NumberText.FromJson(MessageValues.AsText(number)!),
            var value => value,
        };
}

/// <summary>A part of the envelope, or the body as text.</summary>
internal sealed class MessagePartValue(MessagePart part) : IMessageValue
{
    public bool ReadsBody => part == MessagePart.Body;

    public object? Evaluate(MessageContext context) => Take(context.Message);

    private object? Take(EsbMessage message) =>
        part switch
        {
            MessagePart.Id => message.Id,
            MessagePart.Subject => message.Subject.Length == 0 ? null : message.Subject,
            MessagePart.Key => message.Key,
            MessagePart.Body => BodyText.Read(message),
            MessagePart.ContentType => message.ContentType,
            MessagePart.CreatedAt => message.CreatedAt,
            MessagePart.Party => message.Party,
            _ => throw new InvalidOperationException($"The envelope has no part {part}."),
        };
}
