using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration;

/// <summary>Handles unprotected connections to other machines: refuses them, or warns at each start if the configuration explicitly allows
/// them.</summary>
public static class InsecureConnections
{
    /// <summary>Adds the error or the warning, <c>ESB-CFG-INSECURE</c>.</summary>
    /// <param name="errors">Receives the error or the warning.</param>
    /// <param name="settings">The settings of the connection.</param>
    /// <param name="property">The property that holds the address.</param>
    /// <param name="isAllowed">The property <c>allowInsecure</c> of the settings.</param>
    /// <param name="expected">The protected form, such as <c>https://</c>.</param>
    public static void RefuseInsecure(this ConfigErrors errors, SettingsRecord settings, string property, bool isAllowed, string expected)
    {
        const string code = "ESB-CFG-INSECURE";
        const string danger = "what crosses the network can be read and changed by others";
        if (isAllowed)
            errors.Warn(code, settings, property, $"{danger}, which allowInsecure permits");
        else if (settings.IsSound("allowInsecure"))
            errors.Add(code, settings, property, $"{danger}: expected {expected}, or \"allowInsecure\": true in a network that you trust");
    }
}
