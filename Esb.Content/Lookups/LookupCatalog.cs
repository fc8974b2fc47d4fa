using Microsoft.Extensions.Logging;

namespace Esb.Content.Lookups;

/// <summary>The look-ups of a running bus, which follow their files.</summary>
internal sealed class LookupCatalog(LookupModels lookups, ILogger<LiveLookup> logger)
{
    public IReadOnlyCollection<LiveLookup> All { get; } = [.. lookups.Files.Select(lookup => new LiveLookup(lookup, logger))];
}
