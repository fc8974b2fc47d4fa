using Esb.Content.Json.Scanning;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A JSONPath over the body that needs no tree of it. Gives what <see cref="JsonPathValue"/> gives, and reads only as far as it
/// must.</summary>
internal sealed class ScannedJsonValue(JsonQuestion question, JsonPathSet paths) : IMessageValue
{
    public bool ReadsBody => true;

    public object? Evaluate(MessageContext context) => paths.Scan(context.Message.Body).Answer(question);
}
