using Esb.Content.Wsdl;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>The way of the messages of one operation. Immutable.</summary>
/// <param name="Operation">The operation.</param>
/// <param name="Intake">Receives its messages.</param>
/// <param name="IsOneWay">True if its callers get no answer.</param>
internal sealed record SoapRoute(WsdlOperation Operation, IMessageIntake Intake, bool IsOneWay);

/// <summary>A request that was read.</summary>
/// <param name="Message">The message: the child of Body.</param>
/// <param name="Envelope">The envelope that it came in.</param>
/// <param name="Route">The way of its operation.</param>
internal sealed record SoapRequest(Core.Messages.EsbMessage Message, Envelopes.SoapEnvelope Envelope, SoapRoute Route);
