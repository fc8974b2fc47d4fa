using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Endpoints.Files;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Checks folders of sftp-inbound endpoints, and refuses two that would take the same files.</summary>
internal sealed class SftpFolderRule(IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    private const string Delete = "delete";
    private const string Move = "move:";

    /// <summary>The folder of <c>move:FOLDER</c>; null for deletion.</summary>
    public static string? MoveTarget(string? after) =>
        after is not null && after.StartsWith(Move, StringComparison.Ordinal) ? after[Move.Length..].TrimEnd('/') : null;

    /// <summary>Reports values of <c>after</c> and <c>error</c> that are none.</summary>
    public static void CheckFolders(SftpInboundConfig settings, ConfigErrors errors)
    {
        if (
            settings.After is { } after
            && settings.IsSound("after")
            && after != Delete
            && !(MoveTarget(after) is { } target && IsBelow(target))
        )
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "after",
                "expected delete, or move: and a folder relative to that of the url, such as \"move:done\""
            );
        if (settings is { After: not null, Claim: SftpClaimRule.None } && settings.IsSound("claim"))
            errors.Add("ESB-CFG-VALUE", settings, "after", "with claim none nothing is changed on the server: expected no after");
        if (!IsBelow(settings.Error))
            errors.Add("ESB-CFG-VALUE", settings, "error", "expected a folder relative to the url's");
    }

    public void Check(ConfigErrors errors)
    {
        var readers = endpoints
            .Values.OfType<SftpInboundConfig>()
            .Where(endpoint => endpoint.Enabled && endpoint.IsSound("url", "pattern", "enabled"));
        foreach (var sharing in readers.GroupBy(endpoint => endpoint.Url.TrimEnd('/')).Select(group => group.ToList()))
        {
            for (var i = 1; i < sharing.Count; i++)
            {
                if (sharing[..i].Find(other => NamePatterns.Overlap(other.Pattern, sharing[i].Pattern)) is { } first)
                    errors.Add(
                        "ESB-CFG-VALUE",
                        sharing[i],
                        "url",
                        $"'{first.Name}' takes the same files there: give the two folders of their own, or patterns that have no "
                            + $"name in common"
                    );
            }
        }
    }

    private static bool IsBelow(string folder) =>
        folder.Length > 0
        && folder[0] != '/'
        && folder.Split('/').All(part => SafeFileName.WhatIsWrong(part) is null && part != SftpScan.ClaimFolder);
}
