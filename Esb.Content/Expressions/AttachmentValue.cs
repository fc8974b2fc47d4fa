using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>The text of a file of a decoded archive, or of a part of a decoded MIME body; of several with the name, the first.</summary>
internal sealed class AttachmentValue(string name) : IMessageValue
{
    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) =>
        context.Entries?.FirstOrDefault(entry => entry.Name == name) is { } found ? BodyText.Read(found.Body, found.ContentType) : null;
}
