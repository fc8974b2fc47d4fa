using Esb.Core.Parties;

namespace Esb.Endpoints.Http.Access;

/// <summary>The party that a caller was identified as, or the reason for its refusal.</summary>
internal readonly record struct Verdict(Party? Party, Denial Denial)
{
    public static Verdict Refused(Denial denial) => new(null, denial);

    /// <summary>Accepts the party; refuses an unknown caller if it is null.</summary>
    public static Verdict Of(Party? party) => party is null ? Refused(Denial.Unknown) : new(party, Denial.None);
}
