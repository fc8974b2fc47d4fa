using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Files;

/// <summary>Refuses two endpoints that would read the same files: the reader of each file would be random.</summary>
internal sealed class SharedFoldersRule(IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        var readers = endpoints
            .Values.OfType<FileInboundConfig>()
            .Where(endpoint => endpoint.Enabled && endpoint.IsSound("folder", "pattern", "enabled"));
        foreach (
            var sharing in readers.GroupBy(endpoint => Path.TrimEndingDirectorySeparator(endpoint.Folder)).Select(group => group.ToList())
        )
        {
            for (var i = 1; i < sharing.Count; i++)
            {
                if (sharing[..i].Find(other => NamePatterns.Overlap(other.Pattern, sharing[i].Pattern)) is { } first)
                    errors.Add(
                        "ESB-CFG-VALUE",
                        sharing[i],
                        "folder",
                        $"'{first.Name}' reads the same files there: give the two folders of their own, or patterns that have no "
                            + $"name in common"
                    );
            }
        }
    }
}
