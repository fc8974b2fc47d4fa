using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.MassTransit;

/// <summary>Checks that both directions share.</summary>
internal static class MassTransitChecks
{
    public const string Entity = "expected 1..255 letters, digits, \"-\", \"_\", \".\" or \":\"";

    public static void Check(
        SettingsRecord settings,
        IReadOnlyList<MessageTypeName> types,
        IReadOnlyDictionary<string, string> entityNames,
        ConfigErrors errors
    )
    {
        if (!settings.IsSound("messageType"))
            return;
        if (types.Count == 0)
            errors.Add("ESB-CFG-VALUE", settings, "messageType", "expected at least one message type");
        if (types.Distinct().Count() < types.Count)
            errors.Add("ESB-CFG-VALUE", settings, "messageType", "expected each message type once");
        foreach (var (type, name) in entityNames)
        {
            if (types.All(known => known.Value != type))
                errors.Add("ESB-CFG-VALUE", settings, "entityNames", $"'{Clipped.To(60, type)}' is not among messageType");
            if (!MassTransitNames.IsEntity(name))
                errors.Add("ESB-CFG-VALUE", settings, "entityNames", Entity);
        }
    }
}
