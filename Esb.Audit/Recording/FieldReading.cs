using Esb.Core.Audit;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Audit.Recording;

/// <summary>Takes fields from a message as it may be recorded: what is masked in it is masked in them, also where it comes by a
/// property.</summary>
internal static class FieldReading
{
    /// <param name="fields">What to take.</param>
    /// <param name="context">The message.</param>
    /// <param name="masked">The message as it may be recorded.</param>
    /// <param name="missing">Called for fields without a value.</param>
    /// <exception cref="Core.Errors.EsbException">The body cannot be read as a value needs it.</exception>
    public static Dictionary<string, string> Evaluate(
        IReadOnlyList<AuditField> fields,
        MessageContext context,
        MaskedMessage masked,
        Action<string> missing
    )
    {
        var values = new Dictionary<string, string>(fields.Count);
        var secrets =
            ReferenceEquals(context.Message, context.Received) && !context.HasTakenValues
                ? masked.Secrets
                : masked.Secrets.And(MaskedFlow.Secrets); // a property may hold what the message had before
        var shown = context.Showing(masked.Message);
        foreach (var field in fields)
        {
            var isReadable = masked.State != AuditBodyState.Withheld || !field.Value.ReadsBody;
            if (isReadable && MessageValues.AsText(field.Value.Evaluate(shown)) is { } text)
                values[field.Name] = secrets.Remove(text);
            else
                missing(field.Name);
        }

        return values;
    }
}
