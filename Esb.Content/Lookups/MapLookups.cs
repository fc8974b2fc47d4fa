using Esb.Core.Errors;
using Esb.Core.Expressions;

namespace Esb.Content.Lookups;

/// <summary>Look-ups as maps use them.</summary>
internal static class MapLookups
{
    /// <summary>Finds the entry of a look-up by the look-up's name and a key; null if there are no look-ups.</summary>
    public static Func<string, object?, object?>? Of(LookupModels lookups) =>
        lookups.All.Count == 0
            ? null
            : (name, key) =>
                lookups.Find(name) is { } lookup
                    ? MessageValues.AsText(key) is { } text
                        ? lookup.Find(text)
                        : null
                    : throw new EsbException(
                        "ESB-LOOKUP-NAME",
                        "The map names a look-up that the configuration does not have.",
                        FaultKind.Internal
                    );
}
