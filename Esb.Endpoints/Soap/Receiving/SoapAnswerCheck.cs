using Esb.Content.Wsdl;
using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Refuses answers of a process that its callers could not read. Runs as the end of the process, so that the audit tells of it.
/// Thread-safe.</summary>
/// <param name="operation">The operation.</param>
/// <param name="wsdl">Its WSDL; null if answers are not validated.</param>
/// <param name="xml">Reads the answer.</param>
/// <param name="maxBytes">The largest answer.</param>
internal sealed class SoapAnswerCheck(WsdlOperation operation, WsdlModel? wsdl, XmlInput xml, long maxBytes)
{
    /// <exception cref="EsbException"><c>ESB-SOAP-ANSWER</c>.</exception>
    public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        if (SoapStatus.IsFailure(context.GetProperty(MessageContext.StatusProperty)))
            return; // becomes a fault
        var bytes = await context.Message.Body.BufferAsync(maxBytes, cancellationToken);
        if (bytes.IsEmpty && wsdl is null)
            return;
        try
        {
            var root = xml.RootOf(bytes, out var name);
            if (root.Length != bytes.Length)
                context.Message = context.Message with { Body = MessageBody.FromBytes(root) };
            if (wsdl is null)
                return;
            if (name != operation.Output)
                throw new EsbException(
                    "ESB-XML-ROOT",
                    $"expected {{{operation.Output!.Namespace}}}{operation.Output.Name}, found {{{name.Namespace}}}{name.Name}",
                    FaultKind.Invalid
                );
            wsdl.Validate(context.Message);
        }
        catch (EsbException ex)
        {
            throw new EsbException(
                "ESB-SOAP-ANSWER",
                "The answer of the process is not what the WSDL of the service promises.",
                FaultKind.Internal,
                ex
            )
            {
                Detail = ex.Message,
            };
        }
    }
}
