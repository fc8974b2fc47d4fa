using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Listening;

namespace Esb.Host.Management;

/// <summary>Checks the listen address of the management API, and warns if it is open to other machines.</summary>
internal sealed class ManagementRule(ManagementConfig management) : IConfigurationRule, IListeningPart
{
    public IEnumerable<ListeningPlace> Places => [new ListeningPlace("the management API", management, "url", management.Url, IsOpened: true)];

    public void Check(ConfigErrors errors)
    {
        if (ListeningAddress.Parse(management.Url, management, "url", errors) is not { } address) return;
        if (address.IsTls) errors.Add("ESB-CFG-URL", management, "url", "expected http://: the management API speaks no TLS itself");
        else if (!address.IsLoopback) errors.Warn("ESB-CFG-EXPOSED", management, "url", "the management API can be reached from other machines, without TLS");
    }
}
