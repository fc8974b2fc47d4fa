using Esb.Core.Errors;

namespace Esb.Core.Parties;

/// <summary>Faults of parties that lack a permission.</summary>
public static class PartyFaults
{
    /// <summary>The party may not publish under the subject: 403.</summary>
    public static EsbException MayNotPublish(Party party, string subject) =>
        new("ESB-PARTY-SUBJECT", $"The party '{party.Name}' may not publish {subject}.", FaultKind.Invalid) { Status = 403 };
}
