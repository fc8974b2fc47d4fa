using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Listening;

namespace Esb.Host.Management;

/// <summary>Says where the management API will listen, and warns when that is open to others.</summary>
internal sealed class ManagementCheck(EsbConfiguration configuration) : IConfigurationCheck, IListeningPart
{
    private readonly ManagementConfig _management = configuration.Section<ManagementConfig>("management");

    public IEnumerable<ListeningPlace> Places => [new ListeningPlace("the management API", _management, "url", _management.Url, IsOpened: true)];

    public void Check(ConfigErrors errors)
    {
        if (ListeningAddress.Parse(_management.Url, _management, "url", errors) is not { } address) return;
        if (address.IsTls) errors.Add("ESB-CFG-URL", _management, "url", "expected http://: the management API speaks no TLS itself");
        else if (!address.IsLoopback) errors.Warn("ESB-CFG-EXPOSED", _management, "url", "the management API can be reached from other machines, without TLS");
    }
}
